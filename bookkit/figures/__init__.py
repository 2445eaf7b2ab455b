"""Figures in the book's own style: weights as ink, gold for what people or instruments say."""

from bookkit.figures.architecture import residual_diagram, transformer_diagram
from bookkit.figures.colours import (
    GOLD,
    HAIR,
    INK,
    MARKERS,
    MUTED,
    PAPER,
    PERIWINKLE,
    PETROL,
    SERIES,
    SLATE,
    WASH,
    WINE,
    letter_color,
)
from bookkit.figures.curves import band, intervals, limit_line, training_limit
from bookkit.figures.glossed import glossed_text
from bookkit.figures.labels import LineEnd, label_along, label_ends
from bookkit.figures.links import gold_links, weight_key
from bookkit.figures.maps import attention_map, score_map
from bookkit.figures.pictures import attended_picture, caption_maps
from bookkit.figures.ribbons import sentence_ribbons
from bookkit.figures.style import FIGURE_WIDTH, SVG_METADATA, use_style
from bookkit.figures.trees import prefix_tree
from bookkit.playables.angles import rotary_angles
from bookkit.playables.bills import text_bill
from bookkit.playables.broadcasting import broadcast_scores
from bookkit.playables.caching import growing_cache
from bookkit.playables.calculator import calculator
from bookkit.playables.choosing import choose_attention
from bookkit.playables.compounding import compounding
from bookkit.playables.copying import copier_view, heads_that_copy
from bookkit.playables.cutting import cut_arrows
from bookkit.playables.digits import shuffle_digit
from bookkit.playables.divided import divided_head
from bookkit.playables.finger import phrase_finger
from bookkit.playables.finishing import finish_story, writing_clock
from bookkit.playables.gradients import gradient_flow
from bookkit.playables.grey import bend_ruler, grey_names
from bookkit.playables.hay import needle_hay
from bookkit.playables.heads import head_viewer
from bookkit.playables.matching import match_texts
from bookkit.playables.mouth import put_words
from bookkit.playables.moving import ReadSentence, move_weights
from bookkit.playables.narrow import narrow_softmax
from bookkit.playables.next_word import next_word
from bookkit.playables.order import word_order
from bookkit.playables.painted import MaskPuzzle, paint_mask
from bookkit.playables.playable import Playable
from bookkit.playables.prodding import prod_it
from bookkit.playables.queries import drag_query
from bookkit.playables.real_translator import real_translator
from bookkit.playables.requests import one_request
from bookkit.playables.ring import ring_layout
from bookkit.playables.scoring import three_scores
from bookkit.playables.shifted import shifted_map
from bookkit.playables.softmax import softmax_explorer
from bookkit.playables.speeds import two_speeds
from bookkit.playables.spoken import spoken_word
from bookkit.playables.swapped import memory_swap
from bookkit.playables.switchboard import switchboard
from bookkit.playables.tiles import online_softmax_steps
from bookkit.playables.timeline import attention_timeline, timeline_list, timeline_steps
from bookkit.playables.translator import live_translator
from bookkit.playables.whiteboard import whiteboard
from bookkit.playables.widths import width_explorer
from bookkit.playables.winning import Rule, Training, make_win

__all__ = [
    "FIGURE_WIDTH", "GOLD", "HAIR", "INK", "MARKERS", "MUTED", "PAPER", "PERIWINKLE", "PETROL",
    "SERIES", "SLATE", "SVG_METADATA", "WASH", "WINE", "LineEnd", "MaskPuzzle", "Playable",
    "ReadSentence", "Rule", "Training", "attended_picture", "attention_map", "attention_timeline",
    "band", "bend_ruler", "broadcast_scores", "calculator", "caption_maps", "choose_attention",
    "compounding", "copier_view", "cut_arrows", "divided_head", "drag_query", "finish_story",
    "glossed_text", "gold_links", "gradient_flow", "grey_names", "growing_cache", "head_viewer",
    "heads_that_copy", "intervals", "label_along", "label_ends", "letter_color", "limit_line",
    "live_translator", "make_win", "match_texts", "memory_swap", "move_weights", "narrow_softmax",
    "needle_hay", "next_word", "one_request", "online_softmax_steps", "paint_mask", "phrase_finger",
    "prefix_tree", "prod_it", "put_words", "real_translator", "residual_diagram", "ring_layout",
    "rotary_angles", "score_map", "sentence_ribbons", "shifted_map", "shuffle_digit",
    "softmax_explorer", "spoken_word", "switchboard", "text_bill", "three_scores", "timeline_list",
    "timeline_steps", "training_limit", "transformer_diagram", "two_speeds", "use_style",
    "weight_key", "whiteboard", "width_explorer", "word_order", "writing_clock",
]  # fmt: skip
