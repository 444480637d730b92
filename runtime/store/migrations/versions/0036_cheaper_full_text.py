"""Full text for less: chunks of knowledge packs need no index of letters, and PostgreSQL translates only what has accents."""

from alembic import op

revision = "0036"
down_revision = "0035"

ACCENTED = (
    "\xc0\xc1\xc2\xc3\xc4\xc5\xc7\xc8\xc9\xca\xcb\xcc\xcd\xce\xcf\xd1\xd2\xd3\xd4\xd5\xd6\xd9\xda\xdb\xdc\xdd\xe0"
    "\xe1\xe2\xe3\xe4\xe5\xe7\xe8\xe9\xea\xeb\xec\xed\xee\xef\xf1\xf2\xf3\xf4\xf5\xf6\xf9\xfa\xfb\xfc\xfd\xff\u0100"
    "\u0101\u0102\u0103\u0104\u0105\u0106\u0107\u0108\u0109\u010a\u010b\u010c\u010d\u010e\u010f\u0112\u0113\u0114"
    "\u0115\u0116\u0117\u0118\u0119\u011a\u011b\u011c\u011d\u011e\u011f\u0120\u0121\u0122\u0123\u0124\u0125\u0128"
    "\u0129\u012a\u012b\u012c\u012d\u012e\u012f\u0130\u0134\u0135\u0136\u0137\u0139\u013a\u013b\u013c\u013d\u013e"
    "\u0143\u0144\u0145\u0146\u0147\u0148\u014c\u014d\u014e\u014f\u0150\u0151\u0154\u0155\u0156\u0157\u0158\u0159"
    "\u015a\u015b\u015c\u015d\u015e\u015f\u0160\u0161\u0162\u0163\u0164\u0165\u0168\u0169\u016a\u016b\u016c\u016d"
    "\u016e\u016f\u0170\u0171\u0172\u0173\u0174\u0175\u0176\u0177\u0178\u0179\u017a\u017b\u017c\u017d\u017e\u0370"
    "\u0372\u0376\u037f\u0386\u0388\u0389\u038a\u038c\u038e\u038f\u0391\u0392\u0393\u0394\u0395\u0396\u0397\u0398"
    "\u0399\u039a\u039b\u039c\u039d\u039e\u039f\u03a0\u03a1\u03a3\u03a4\u03a5\u03a6\u03a7\u03a8\u03a9\u03aa\u03ab"
    "\u03cf\u03d8\u03da\u03dc\u03de\u03e0\u03e2\u03e4\u03e6\u03e8\u03ea\u03ec\u03ee\u03f4\u03f7\u03f9\u03fa\u03fd"
    "\u03fe\u03ff\u0400\u0401\u0402\u0403\u0404\u0405\u0406\u0407\u0408\u0409\u040a\u040b\u040c\u040d\u040e\u040f"
    "\u0410\u0411\u0412\u0413\u0414\u0415\u0416\u0417\u0418\u0419\u041a\u041b\u041c\u041d\u041e\u041f\u0420\u0421"
    "\u0422\u0423\u0424\u0425\u0426\u0427\u0428\u0429\u042a\u042b\u042c\u042d\u042e\u042f\u0460\u0462\u0464\u0466"
    "\u0468\u046a\u046c\u046e\u0470\u0472\u0474\u0476\u0478\u047a\u047c\u047e\u0480\u048a\u048c\u048e\u0490\u0492"
    "\u0494\u0496\u0498\u049a\u049c\u049e\u04a0\u04a2\u04a4\u04a6\u04a8\u04aa\u04ac\u04ae\u04b0\u04b2\u04b4\u04b6"
    "\u04b8\u04ba\u04bc\u04be\u04c0\u04c1\u04c3\u04c5\u04c7\u04c9\u04cb\u04cd\u04d0\u04d2\u04d4\u04d6\u04d8\u04da"
    "\u04dc\u04de\u04e0\u04e2\u04e4\u04e6\u04e8\u04ea\u04ec\u04ee\u04f0\u04f2\u04f4\u04f6\u04f8\u04fa\u04fc\u04fe"
    "\u0500\u0502\u0504\u0506\u0508\u050a\u050c\u050e\u0510\u0512\u0514\u0516\u0518\u051a\u051c\u051e\u0520\u0522"
    "\u0524\u0526\u0528\u052a\u052c\u052e"
)
BARE = (
    "aaaaaaceeeeiiiinooooouuuuyaaaaaaceeeeiiiinooooouuuuyyaaaaaaccccccccddeeeeeeeeeegggggggghhiiiiiiiiijjkkllllllnn"
    "nnnnoooooorrrrrrssssssssttttuuuuuuuuuuuuwwyyyzzzzzz\u0371\u0373\u0377\u03f3\u03ac\u03ad\u03ae\u03af\u03cc"
    "\u03cd\u03ce\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc\u03bd\u03be\u03bf\u03c0"
    "\u03c1\u03c3\u03c4\u03c5\u03c6\u03c7\u03c8\u03c9\u03ca\u03cb\u03d7\u03d9\u03db\u03dd\u03df\u03e1\u03e3\u03e5"
    "\u03e7\u03e9\u03eb\u03ed\u03ef\u03b8\u03f8\u03f2\u03fb\u037b\u037c\u037d\u0450\u0451\u0452\u0453\u0454\u0455"
    "\u0456\u0457\u0458\u0459\u045a\u045b\u045c\u045d\u045e\u045f\u0430\u0431\u0432\u0433\u0434\u0435\u0436\u0437"
    "\u0438\u0439\u043a\u043b\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443\u0444\u0445\u0446\u0447\u0448\u0449"
    "\u044a\u044b\u044c\u044d\u044e\u044f\u0461\u0463\u0465\u0467\u0469\u046b\u046d\u046f\u0471\u0473\u0475\u0477"
    "\u0479\u047b\u047d\u047f\u0481\u048b\u048d\u048f\u0491\u0493\u0495\u0497\u0499\u049b\u049d\u049f\u04a1\u04a3"
    "\u04a5\u04a7\u04a9\u04ab\u04ad\u04af\u04b1\u04b3\u04b5\u04b7\u04b9\u04bb\u04bd\u04bf\u04cf\u04c2\u04c4\u04c6"
    "\u04c8\u04ca\u04cc\u04ce\u04d1\u04d3\u04d5\u04d7\u04d9\u04db\u04dd\u04df\u04e1\u04e3\u04e5\u04e7\u04e9\u04eb"
    "\u04ed\u04ef\u04f1\u04f3\u04f5\u04f7\u04f9\u04fb\u04fd\u04ff\u0501\u0503\u0505\u0507\u0509\u050b\u050d\u050f"
    "\u0511\u0513\u0515\u0517\u0519\u051b\u051d\u051f\u0521\u0523\u0525\u0527\u0529\u052b\u052d\u052f"
)
TRIGGERS = (
    "CREATE TRIGGER knowledge_chunks_added AFTER INSERT ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(rowid, pack, text) VALUES (new.number, new.pack, new.text); END",
    "CREATE TRIGGER knowledge_chunks_removed AFTER DELETE ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(knowledge_chunks_words, rowid, pack, text) VALUES ('delete', old.number, old.pack, "
    "old.text); END",
    "CREATE TRIGGER knowledge_chunks_changed AFTER UPDATE OF pack, text ON knowledge_chunks BEGIN INSERT INTO "
    "knowledge_chunks_words(knowledge_chunks_words, rowid, pack, text) VALUES ('delete', old.number, old.pack, "
    "old.text); INSERT INTO knowledge_chunks_words(rowid, pack, text) VALUES (new.number, new.pack, new.text); END",
)
WORDS = (("memories", "reach"), ("knowledge_chunks", "pack"))


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP INDEX IF EXISTS knowledge_chunks_letters")
        for table, within in WORDS:
            op.execute(f"DROP INDEX IF EXISTS {table}_words")
            op.execute(f"CREATE INDEX {table}_words ON {table} USING gin ({_vector(within)})")
        return
    for name in ("added", "removed", "changed"):
        op.execute(f"DROP TRIGGER knowledge_chunks_{name}")
    op.execute("DROP TABLE IF EXISTS knowledge_chunks_letters")
    for statement in TRIGGERS:
        op.execute(statement)


def _vector(within: str) -> str:
    """The words of a text, the first one saying within what it is."""
    place = f"'w' || regexp_replace({within}, '[^0-9A-Za-z]', '', 'g')"
    bare = f"CASE WHEN text ~ '[{ACCENTED}]' THEN translate(text, '{ACCENTED}', '{BARE}') ELSE text END"
    return f"to_tsvector('simple', {place} || ' ' || {bare})"
