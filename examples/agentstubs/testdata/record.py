"""Records what CPython answers to programs.txtar, as answers.json.

The capabilities below answer as the handlers of this example do.
Run it in this folder: python3 record.py
"""
import asyncio
import contextlib
import io
import json
import re
from types import SimpleNamespace as Namespace

PEOPLE = [
    (1, "Ada", "eng", 4, "ada@x.io", None),
    (2, "Bob", "ops", 2, "bob@x.io", 1),
    (3, "Cy", "eng", 3, None, 1),
]
ORDERS = [
    ("o1", 120.5, "open", "c1", [("a", 2), ("b", 1)], "2026-01-03"),
    ("o2", 80.25, "closed", "c2", [("a", 1)], "2026-02-10"),
    ("o3", 310.0, "open", "c1", [], "2026-03-21"),
]


def people():
    return [dict(zip(("id", "name", "team", "level", "email", "manager"), p)) for p in PEOPLE]


def orders():
    names = ("id", "total", "status", "customer", "items", "created")
    out = [dict(zip(names, o)) for o in ORDERS]
    for o in out:
        o["items"] = [{"sku": sku, "qty": qty} for sku, qty in o["items"]]
    return out


def prs(page):
    return [
        {"number": page * 10 + i, "title": f"Fix bug {i}", "user": {"login": f"u{i % 2}"},
         "labels": [{"name": "bug"}], "draft": i == 1, "comments": i * 3}
        for i in range(3 if page < 3 else 0)
    ]


def found(query, limit):
    return {"results": [
        {"title": f"T{i} {query}", "url": f"https://e.x/{i}", "score": 0.9 - 0.2 * i} for i in range(limit)
    ]}


def log(cursor):
    lines = ["2026-01-01 ERROR db timeout", "2026-01-01 WARN slow"]
    return {"lines": lines, "next": {None: "p2", "p2": "p3", "p3": None}[cursor]}


def capabilities():
    temperatures = {"London": 11.5, "Paris": 14.25, "Tokyo": 19.0}
    return {
        "records": Namespace(lookup=lambda *, key, limit=10: [{"key": key, "value": i} for i in range(3)][:limit]),
        "hr": Namespace(
            list_people=lambda *, team=None: [p for p in people() if team is None or p["team"] == team],
            get_person=lambda *, id: [p for p in people() if p["id"] == id][0],
            get_expenses=lambda *, person_id, quarter="Q1": [
                {"amount": 100 * person_id, "category": "travel"}, {"amount": 50.5, "category": "meals"}],
            get_budget=lambda *, level: {"limit": 200 * level}),
        "orders": Namespace(
            list=lambda *, status=None: [o for o in orders() if status is None or o["status"] == status],
            get=lambda *, id: [o for o in orders() if o["id"] == id][0]),
        "weather": Namespace(
            get=lambda *, city, units="metric": {"city": city, "temp": temperatures.get(city, 20.0), "conditions": "rain"},
            latlng=lambda *, place: {"lat": 1.0, "lng": 2.0},
            temp=lambda *, lat, lng: 21.4),
        "github": Namespace(
            list_prs=lambda *, owner, repo, state="open", page=1: prs(page),
            close_issue=lambda *, number, reason="": {"number": number, "state": "closed"}),
        "web": Namespace(
            search=lambda *, query, limit=5: found(query, limit),
            fetch=lambda *, url: "Population: 1,234,567 as of 2024.\nArea: 100 km2\n# comment\n\nvisit https://a.b/c"),
        "email": Namespace(send=lambda *, to, subject="", body="": {"sent": True, "to": to}),
        "slack": Namespace(post=lambda *, channel, text: {"ok": True, "ts": "1"}),
        "db": Namespace(query=lambda *, sql, params=(): {
            "columns": ["region", "revenue"], "rows": [["eu", 10], ["us", 32], ["eu", 5]]}),
        "files": Namespace(read=lambda *, path: '{"a": [1, 2, {"b": null}], "status": "ok"}'),
        "cal": Namespace(events=lambda *, day: [
            {"start": "09:00", "end": "09:30", "title": "standup"}, {"start": "11:00", "end": "12:30", "title": "review"}]),
        "stocks": Namespace(prices=lambda *, symbol, days=5: [
            {"day": i, "close": 100.0 + (i * 7) % 5} for i in range(days)]),
        "tickets": Namespace(create=lambda *, title, priority="low", assignee=None: {
            "id": "T-1", "title": title, "priority": priority}),
        "logs": Namespace(get=lambda *, service, level="error", cursor=None: log(cursor)),
        "parallel": lambda callables: [f() for f in callables],
    }


def answer(name, source):
    scope = {**capabilities(), "__name__": "program"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, name, "exec"), scope)
        value = scope["main"]()
        if asyncio.iscoroutine(value):
            value = asyncio.run(value)
    return json.loads(json.dumps(value))


parts = re.split(r"^-- (\S+) --\n", open("programs.txtar", encoding="utf-8").read(), flags=re.M)[1:]
answers = {name: answer(name, source) for name, source in zip(parts[::2], parts[1::2])}
with open("answers.json", "w", encoding="utf-8") as out:
    lines = [f"{json.dumps(name)}: {json.dumps(answers[name], ensure_ascii=False)}" for name in sorted(answers)]
    out.write("{\n" + ",\n".join(lines) + "\n}\n")
