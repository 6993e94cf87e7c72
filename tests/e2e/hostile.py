"""What nobody should type, and somebody does."""

from __future__ import annotations

HOSTILE = (
    "</script><script>parent.hacked=1;window.hacked=1</script>",
    "<img src=x onerror='parent.hacked=1;window.hacked=1'>",
    "<svg onload=hacked=1><foreignObject>",
    "\"quotes\" 'single' `backticks` \\ \\u003c",
    "${hacked=1} {{value}} $& $1 $` @@DATA@@",
    "line\u2028separator\u2029paragraph",
    "<!-- comment <script>",
    "]]> </title></style></textarea></svg>",
    "🙂 👩‍👩‍👧 مرحبا بالعالم שלום",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3,
    "<b>bold</b> $x$ %{y} &lt;b&gt;",
)
"""Sets `window.hacked`, here or in the page around, where it is run."""
