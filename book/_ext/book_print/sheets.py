"""On which sheet of a PDF its anchors are."""

from io import BytesIO

from pypdf import PdfReader


def sheets(pdf: bytes) -> dict[str, int]:
    """Return the number of the sheet, from 1, for every anchor in a PDF that a link leads to."""
    reader = PdfReader(BytesIO(pdf))
    numbers = {
        name.removeprefix("/"): reader.get_destination_page_number(place)
        for name, place in reader.named_destinations.items()
    }
    return {name: number + 1 for name, number in numbers.items() if number is not None}


def count_sheets(pdf: bytes) -> int:
    """Return how many sheets a PDF has."""
    return len(PdfReader(BytesIO(pdf)).pages)
