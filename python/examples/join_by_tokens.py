"""Two parties join their tables by tokens, and neither sees the other's names.

A clinic and an insurer ask the same three servers for HMACs of their names, under a key that the servers
drew and that nobody has. They exchange tables that have tokens where the names were. Equal names have equal
tokens; without the key a token says nothing else. Who may use the key can have tokens made of names that he
guesses: so the clinic has the key destroyed before anybody hands out a table, and where the servers have
limits (`seconds_an_hour`), those bound how many tokens a client gets until then. What stays visible: how many
rows are there, which of them match, and that a token occurs twice.
"""

from __future__ import annotations

import unicodedata

import pandas

import divisi

CLINIC = pandas.DataFrame(
    {"name": ["Ann Lee", "Bo Chen", "Zoë Ray", "Ann Lee"], "diagnosis": ["J45", "E11", "I10", "M54"]}
)
INSURER = pandas.DataFrame({"name": ["Zoë  Ray", "ann lee", "Max Roth"], "premium": [410, 530, 290]})


def one_way(name: str) -> str:
    """A name as both parties write it: equal names must be equal bytes."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def tokens(table: pandas.DataFrame, config: str, identity: str) -> pandas.DataFrame:
    """The table as it is handed out: tokens for names, in an order that says nothing."""
    where = {"config": config, "identity": identity}
    names = [one_way(name) for name in table["name"]]
    made = divisi.map(names, keys="join", connect=where, operation="mac", encoding="utf-8")
    shown = table.assign(token=[one.hex() for one in made if one is not None])
    return shown.drop(columns="name").sort_values("token", ignore_index=True)


def main() -> tuple[list[pandas.DataFrame], pandas.DataFrame]:
    """The tables that are handed out, and their join."""
    with divisi.local_servers(["clinic", "insurer"]) as servers:
        files = servers.identities
        with servers.connect("clinic") as clinic:
            key = clinic.new_key("join", "hmac-sha256", clients=["insurer"])
            shown = [
                tokens(CLINIC, servers.config, files["clinic"]),
                tokens(INSURER, servers.config, files["insurer"]),
            ]
            # from now on nobody can make a token of a name, not even all who took part together
            key.destroy()
    return shown, shown[0].merge(shown[1], on="token")


if __name__ == "__main__":
    print(main()[1].drop(columns="token").to_string(index=False))
