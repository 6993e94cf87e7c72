"""DeBERTa's scores taken apart: content with content, content with position, position with content."""
