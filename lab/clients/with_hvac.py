"""hvac, the Python library of Transit, against a gateway: `with_hvac.py PROGRAM`.

Each check is a value that comes back, or the exception by which hvac tells a user what is wrong.
"""

import base64
import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import hvac
from hvac import exceptions

from machines import Machines

# Every byte, so that no coding on the way goes unnoticed.
TEXT = bytes(range(256))
LIMIT = 120
KEY = "letters"
MAC = "seals"


def encoded(data):
    return base64.b64encode(data).decode()


def decoded(text):
    return base64.b64decode(text, validate=True)


def outcome(call):
    """What a call returns, or the type of its exception."""
    try:
        return call()
    except Exception as error:
        return type(error)


class Checks:
    """Counts what was compared, and says what differs."""

    def __init__(self):
        self.done = 0
        self.differ = 0

    def same(self, what, got, expected):
        self.done += 1
        if got != expected:
            self.differ += 1
            print(f"hvac: {what}: got {got!r}, expected {expected!r}")

    def raises(self, what, kind, call):
        self.same(what, outcome(call), kind)


def keys(checks, client, transit):
    """Make, read and list."""
    made = transit.create_key(KEY, key_type="aes256-gcm96", derived=False, exportable=False)
    checks.same("a key made", made["data"]["name"], KEY)
    # hvac's create_key does not know this type
    client.write_data("transit/keys/short", data={"type": "aes128-gcm96"})
    for name, kind in [(KEY, "aes256-gcm96"), ("short", "aes128-gcm96")]:
        read = transit.read_key(name)["data"]
        checks.same(f"{name} read", (read["name"], read["type"], read["latest_version"]), (name, kind, 1))
        checks.same(f"versions of {name}", list(read["keys"]), ["1"])
        checks.same(f"{name} has a time", read["keys"]["1"] > 1_700_000_000, True)
        rights = (read["exportable"], read["derived"], read["deletion_allowed"], read["supports_encryption"])
        checks.same(f"rights of {name}", rights, (False, False, False, True))
    checks.same("list", transit.list_keys()["data"]["keys"], [KEY, "short"])
    again = transit.create_key(KEY)
    checks.same("made again", again["data"]["name"], KEY)
    checks.raises("absent key", exceptions.InvalidPath, lambda: transit.read_key("absent"))
    checks.raises("an empty list", exceptions.InvalidPath, lambda: transit.list_keys(mount_point="t2"))
    checks.raises("export", exceptions.InvalidRequest, lambda: transit.export_key(KEY, "encryption-key"))
    checks.raises("rotation", exceptions.InvalidRequest, lambda: transit.rotate_key(KEY))
    checks.raises("deletion", exceptions.InvalidRequest, lambda: transit.delete_key(KEY))
    # the real server says so, and hvac's own tests expect it
    checks.raises("backup", exceptions.InternalServerError, lambda: transit.backup_key(KEY))


def ciphertexts(checks, transit):
    """Encrypt and decrypt, with what is beside the text, and rewrap. A ciphertext for later."""
    for name in [KEY, "short"]:
        for text in [b"", b"a", TEXT, TEXT * 40]:
            sealed = transit.encrypt_data(name, encoded(text))["data"]["ciphertext"]
            checks.same("the form of a ciphertext", sealed[:9], "vault:v1:")
            checks.same("IV, text and tag", len(decoded(sealed[9:])), 12 + len(text) + 16)
            opened = transit.decrypt_data(name, sealed)["data"]["plaintext"]
            checks.same(f"{len(text)} bytes by {name}", decoded(opened), text)
    beside, other = encoded(b"a header"), encoded(b"another")
    sealed = transit.encrypt_data(KEY, encoded(TEXT), associated_data=beside)["data"]["ciphertext"]
    opened = transit.decrypt_data(KEY, sealed, associated_data=beside)["data"]["plaintext"]
    checks.same("associated data", decoded(opened), TEXT)
    wrong = [lambda: transit.decrypt_data(KEY, sealed, associated_data=other)]
    wrong += [lambda: transit.decrypt_data(KEY, sealed), lambda: transit.decrypt_data("short", sealed)]
    wrong += [lambda: transit.decrypt_data(KEY, "vault:v2:" + sealed[9:])]
    wrong += [lambda: transit.decrypt_data("absent", sealed), lambda: transit.encrypt_data(KEY, "no base64!")]
    for number, call in enumerate(wrong):
        checks.raises(f"mistake {number} of ciphertexts", exceptions.InvalidRequest, call)
    sealed = transit.encrypt_data(KEY, encoded(TEXT))["data"]["ciphertext"]
    anew = transit.rewrap_data(KEY, sealed)["data"]["ciphertext"]
    checks.same("rewrap makes another", anew != sealed, True)
    checks.same("rewrapped", decoded(transit.decrypt_data(KEY, anew)["data"]["plaintext"]), TEXT)
    # by upsert, at a mount whose keys have a prefix for the servers
    there = transit.encrypt_data("new", encoded(TEXT), mount_point="t2")["data"]["ciphertext"]
    opened = transit.decrypt_data("new", there, mount_point="t2")["data"]["plaintext"]
    checks.same("a key made by its first use", decoded(opened), TEXT)
    checks.same("list of t2", transit.list_keys(mount_point="t2")["data"]["keys"], ["new"])
    return sealed


def batches(checks, transit):
    """Many texts in a request, one of them wrong."""
    texts = [TEXT[:length] for length in range(40)]
    items = [{"plaintext": encoded(text), "reference": str(len(text))} for text in texts]
    done = transit.encrypt_data(KEY, plaintext=None, batch_input=items)["data"]["batch_results"]
    checks.same("references", [item["reference"] for item in done], [item["reference"] for item in items])
    sealed = [{"ciphertext": item["ciphertext"]} for item in done]
    opened = transit.decrypt_data(KEY, ciphertext=None, batch_input=sealed)["data"]["batch_results"]
    checks.same("a batch", [decoded(item["plaintext"]) for item in opened], texts)
    anew = transit.rewrap_data(KEY, ciphertext=None, batch_input=sealed)["data"]["batch_results"]
    anew = [{"ciphertext": item["ciphertext"]} for item in anew]
    opened = transit.decrypt_data(KEY, ciphertext=None, batch_input=anew)["data"]["batch_results"]
    checks.same("a batch rewrapped", [decoded(item["plaintext"]) for item in opened], texts)
    mixed = [sealed[3], {"ciphertext": "vault:v1:" + encoded(bytes(40))}]
    checks.raises("a batch with a wrong item", exceptions.InvalidRequest,
                  lambda: transit.decrypt_data(KEY, ciphertext=None, batch_input=mixed))


def data_keys(checks, transit):
    for bits in [128, 256, 512]:
        made = transit.generate_data_key(KEY, "plaintext", bits=bits)["data"]
        checks.same(f"a data key of {bits} bits", len(decoded(made["plaintext"])) * 8, bits)
        opened = transit.decrypt_data(KEY, made["ciphertext"])["data"]["plaintext"]
        checks.same(f"it, decrypted, of {bits} bits", opened, made["plaintext"])
        made = transit.generate_data_key(KEY, "wrapped", bits=bits)["data"]
        checks.same("a wrapped one has no plaintext", "plaintext" in made, False)
        opened = decoded(transit.decrypt_data(KEY, made["ciphertext"])["data"]["plaintext"])
        checks.same(f"a wrapped one of {bits} bits", len(opened) * 8, bits)


def digests(checks, client, transit):
    """Random bytes, hashes and MACs."""
    for count in [1, 32, 1000]:
        drawn = transit.generate_random_bytes(n_bytes=count, output_format="hex")["data"]["random_bytes"]
        checks.same(f"{count} random bytes in hex", len(bytes.fromhex(drawn)), count)
        drawn = transit.generate_random_bytes(n_bytes=count)["data"]["random_bytes"]
        checks.same(f"{count} random bytes", len(decoded(drawn)), count)
    for name in ["sha2-224", "sha2-256", "sha2-384", "sha2-512"]:
        expected = hashlib.new(name.replace("sha2-", "sha"), TEXT)
        for form, value in [("hex", expected.hexdigest()), ("base64", encoded(expected.digest()))]:
            got = transit.hash_data(encoded(TEXT), algorithm=name, output_format=form)["data"]["sum"]
            checks.same(f"{name} in {form}", got, value)
    # hvac's create_key has no size of a key, which this type needs
    client.write_data(f"transit/keys/{MAC}", data={"type": "hmac", "key_size": 32})
    checks.same("a key of MACs", transit.read_key(MAC)["data"]["type"], "hmac")
    mac = transit.generate_hmac(MAC, encoded(TEXT), algorithm="sha2-256")["data"]["hmac"]
    checks.same("the form of a MAC", (mac[:9], len(decoded(mac[9:]))), ("vault:v1:", 32))
    again = transit.generate_hmac(MAC, encoded(TEXT))["data"]["hmac"]
    checks.same("a MAC is the same again", again, mac)
    for text, expected in [(TEXT, True), (TEXT[1:], False)]:
        valid = transit.verify_signed_data(MAC, encoded(text), hmac=mac)["data"]["valid"]
        checks.same("what verify says", valid, expected)


def system(checks, client):
    checks.same("authenticated", client.is_authenticated(), True)
    checks.same("sealed", client.sys.is_sealed(), False)
    checks.same("initialised", client.sys.is_initialized(), True)
    checks.same("health", client.sys.read_health_status(method="GET")["sealed"], False)
    checks.same("health by HEAD", client.sys.read_health_status().status_code, 200)
    checks.same("mounts", client.sys.list_mounted_secrets_engines()["data"]["t2/"]["type"], "transit")
    checks.same("own token", client.auth.token.lookup_self()["data"]["id"], client.token)


def token(checks, url):
    """Whoever has no token gets nothing."""
    for wrong in ["s.wrong", ""]:
        stranger = hvac.Client(url=url, token=wrong)
        transit = stranger.secrets.transit
        checks.same("a stranger is authenticated", stranger.is_authenticated(), False)
        for call in [lambda: transit.read_key(KEY), lambda: transit.list_keys(),
                     lambda: transit.create_key("x"), lambda: transit.encrypt_data(KEY, encoded(TEXT)),
                     lambda: transit.generate_random_bytes(n_bytes=8)]:
            checks.raises("a wrong token", exceptions.Forbidden, call)


def outage(checks, machines, client, transit, sealed):
    """Without a server: trouble, and never an answer that means something else. Then all as before."""
    machines.tell("stop 2")
    calls = [lambda: transit.decrypt_data(KEY, sealed), lambda: transit.encrypt_data(KEY, encoded(TEXT)),
             lambda: transit.create_key("other"), lambda: transit.read_key("absent"),
             lambda: transit.generate_data_key(KEY, "plaintext")]
    # at a time, since a gateway tries each for some seconds
    with ThreadPoolExecutor(len(calls)) as pool:
        for got in pool.map(outcome, calls):
            checks.same("a server is stopped", got, exceptions.VaultDown)
    checks.same("health of an outage", client.sys.read_health_status().status_code, 503)
    machines.tell("start 2")
    opened = transit.decrypt_data(KEY, sealed)["data"]["plaintext"]
    checks.same("decrypted after the outage", decoded(opened), TEXT)
    # a mount without a prefix has the keys of all prefixes
    after = transit.list_keys()["data"]["keys"]
    checks.same("keys after the outage", after, [KEY, MAC, "short", "t2-new"])


def main():
    checks = Checks()
    with Machines(sys.argv[1]) as machines:
        def too_late():
            print(f"hvac: not done after {LIMIT} s")
            machines.process.kill()

        watch = threading.Timer(LIMIT, too_late)
        watch.daemon = True
        watch.start()
        client = hvac.Client(url=machines.url, token=machines.token)
        transit = client.secrets.transit
        def tried(part, *arguments):
            try:
                return part(checks, *arguments)
            except Exception as error:
                checks.same(part.__name__, error, "no error")

        tried(keys, client, transit)
        sealed = tried(ciphertexts, transit)
        tried(batches, transit)
        tried(data_keys, transit)
        tried(digests, client, transit)
        tried(system, client)
        tried(token, machines.url)
        tried(outage, machines, client, transit, sealed)
    print(f"hvac: {checks.done} checks, {checks.differ} differ")
    sys.exit(checks.differ > 0)


if __name__ == "__main__":
    main()
