"""Figures in the book's own style: weights as ink, gold for what people or instruments say."""

from companion.pages.plot.architecture import residual_diagram, transformer_diagram
from companion.pages.plot.colours import (
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
from companion.pages.plot.curves import band, intervals, training_limit
from companion.pages.plot.glossed import GlossedText, glossed_text
from companion.pages.plot.labels import LineEnd, label_along, label_ends
from companion.pages.plot.links import gold_links, weight_key
from companion.pages.plot.live.angles import rotary_angles
from companion.pages.plot.live.arrows import arrow_lookup
from companion.pages.plot.live.caching import growing_cache
from companion.pages.plot.live.calculator import calculator, cost_of
from companion.pages.plot.live.compounding import compounding
from companion.pages.plot.live.copying import CopierView, copier_view, heads_that_copy
from companion.pages.plot.live.divided import divided_head
from companion.pages.plot.live.finishing import finish_story
from companion.pages.plot.live.gradients import gradient_flow
from companion.pages.plot.live.heads import head_viewer
from companion.pages.plot.live.narrow import narrow_softmax
from companion.pages.plot.live.next_word import next_word
from companion.pages.plot.live.order import word_order
from companion.pages.plot.live.output import LiveOutput
from companion.pages.plot.live.painted import MaskPuzzle, paint_mask
from companion.pages.plot.live.shifted import shifted_map
from companion.pages.plot.live.softmax import softmax_explorer
from companion.pages.plot.live.switchboard import switchboard
from companion.pages.plot.live.tiles import online_softmax_steps
from companion.pages.plot.live.timeline import (
    TimelineList,
    TimelineStep,
    attention_timeline,
    timeline_list,
    timeline_steps,
)
from companion.pages.plot.live.translator import live_translator
from companion.pages.plot.live.widths import width_explorer
from companion.pages.plot.live.window import local_window
from companion.pages.plot.maps import attention_map, score_map
from companion.pages.plot.pictures import attended_picture, caption_maps
from companion.pages.plot.ribbons import InlineSVG, sentence_ribbons
from companion.pages.plot.style import FIGURE_WIDTH, SVG_METADATA, use_style
from companion.pages.plot.trees import prefix_tree
from companion.pages.plot.written import WrittenText, written_text

__all__ = [
    "FIGURE_WIDTH", "GOLD", "HAIR", "INK", "MARKERS", "MUTED", "PAPER", "PERIWINKLE", "PETROL",
    "SERIES", "SLATE", "SVG_METADATA", "WASH", "WINE", "CopierView", "GlossedText", "InlineSVG",
    "LineEnd", "LiveOutput", "MaskPuzzle", "TimelineList", "TimelineStep", "WrittenText",
    "arrow_lookup", "attended_picture", "attention_map", "attention_timeline", "band",
    "calculator", "caption_maps", "compounding", "copier_view", "cost_of", "divided_head",
    "finish_story", "glossed_text", "gold_links", "gradient_flow", "growing_cache", "head_viewer",
    "heads_that_copy", "intervals", "label_along", "label_ends", "letter_color", "live_translator",
    "local_window", "narrow_softmax", "next_word", "online_softmax_steps", "paint_mask",
    "prefix_tree", "residual_diagram", "rotary_angles", "score_map", "sentence_ribbons",
    "shifted_map", "softmax_explorer", "switchboard", "timeline_list", "timeline_steps",
    "training_limit", "transformer_diagram", "use_style", "weight_key", "width_explorer",
    "word_order", "written_text",
]  # fmt: skip
