"""The atlas of today's attention for its pages: the record, its words, its drawings."""
