# The table of routes against the server: every route by every credential, with what is expected
# computed here; what HTTP may be misused for; a token revoked; names that a path cannot have.
#   serve_matrix.py matrix|misuse URL TOKENS-FILE ROUTES-FILE
# TOKENS-FILE: "ROLE TOKEN" a line; the session of ROLE as "session:ROLE COOKIE". Prints what is
# wrong; the last line is "N asked, M wrong".
import base64
import http.client
import json
import re
import socket
import sys
import urllib.parse

what, url, tokens_file, routes_file = sys.argv[1:]
host, port = urllib.parse.urlsplit(url).hostname, urllib.parse.urlsplit(url).port
tokens = dict(line.split() for line in open(tokens_file))
routes = [json.loads(line) for line in open(routes_file)]
asked = 0
wrong = 0


def complain(text):
    global wrong
    wrong += 1
    print(text)


def ask(method, path, headers=None, body=None):
    global asked
    asked += 1
    link = http.client.HTTPConnection(host, port, timeout=30)
    try:
        link.request(method, path, body=body, headers=headers or {})
        answer = link.getresponse()
        return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.getheaders()}
    finally:
        link.close()


# What each role may, in words of this file's own.
MAY = {
    "metrics": {"any", "metrics"},
    "read": {"any", "metrics", "read"},
    "work": {"any", "work"},
    "operate": {"any", "metrics", "read", "operate"},
    "admin": {"any", "metrics", "read", "operate", "work", "admin"},
}
NAMES = {"queue": "stock", "key": "a", "process": "nightly", "schedule": "none", "plan": "none",
         "aggregation": "none", "parent": "p", "tick": "~MjAyNi0xMS0yMVQwOTowMDowMFo", "id": "0" * 16}


def address(route):
    parts = [NAMES[p[1:-1]] if p.startswith("{") else p for p in route["path"].split("/")]
    return "/api/v1/" + "/".join(parts)


def credentials():
    """What is sent, who that is (a role or None), by which proof, and whether it is fit to be sent."""
    yield {}, None, "none"
    yield {"Authorization": "Bearer dbk_" + "0" * 89}, None, "wrong"
    yield {"Authorization": "Basic YTpi"}, None, "wrong"
    for name, secret in tokens.items():
        if name.startswith("session:"):
            yield {"Cookie": f"daybook={secret}"}, name[8:], "session"
        else:
            yield {"Authorization": f"Bearer {secret}"}, name, "bearer"
    some = next(one for name, one in tokens.items() if name.startswith("session:"))
    yield {"Cookie": f"daybook={some}", "Authorization": f"Bearer {tokens['admin']}"}, "both", "both"


SITES = [{}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "cross-site"},
         {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"},
         {"Origin": f"http://{host}:{port}"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]


def same_site(site):
    if "Sec-Fetch-Site" in site:
        return site["Sec-Fetch-Site"] == "same-origin"
    return site.get("Origin") == f"http://{host}:{port}"


def expected(route, role, proof, site, json_type):
    """The status that refuses it, or None: it is taken, whatever becomes of it."""
    is_act = route["method"] != "GET"
    if route["takes"] != "nothing":
        if proof == "both":
            return 400
        if role is None:
            return 401
        if route["takes"] not in MAY[role]:
            return 403
    if is_act and (proof != "bearer" or route["takes"] == "nothing") and not same_site(site):
        return 403
    if is_act and not json_type:
        return 415
    if route["reason"] == "needed":
        return 428
    return None


def matrix():
    # Wrong tokens are few: else the server stops looking at any.
    wrong_ones = 0
    for route in routes:
        if route["method"] == "DELETE" and route["path"] == "session":
            continue  # it would end the sessions of the matrix
        for headers, role, proof in credentials():
            is_act = route["method"] != "GET"
            for site in SITES if is_act else SITES[:3]:
                for kind in ("application/json", "text/plain") if is_act else (None,):
                    if headers.get("Authorization", "").startswith("Bearer") and proof == "wrong":
                        wrong_ones += 1
                        if wrong_ones > 6:
                            continue
                    sent = {**headers, **site}
                    if kind:
                        sent["Content-Type"] = kind
                    body = "{}" if is_act else None
                    got, text, back = ask(route["method"], address(route), sent, body)
                    want = expected(route, role, proof, site, kind == "application/json")
                    name = f"{route['method']} {route['path']} {role} {proof} {site} {kind}"
                    if want is not None and got != want:
                        complain(f"{name}: {got} instead of {want}: {text[:120]}")
                    if want is None and got in (401, 403, 405, 415, 421, 428, 500):
                        complain(f"{name}: {got}: {text[:160]}")
                    if "content-security-policy" not in back or back.get("cache-control") != "no-store":
                        complain(f"{name}: headers are missing")
                    if got >= 400 and json.loads(text)["status"] != got:
                        complain(f"{name}: no problem+json")
        # Forms of the same address that must lead nowhere.
        where = address(route)
        known = {**{"Authorization": f"Bearer {tokens['admin']}"}, "Content-Type": "application/json"}
        last = route["path"].split("/")[-1]
        coded = "~" + base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")
        forms = [where + "/", where.replace("/api/", "//api/"), where + "/..", where + ";x",
                 where.replace("api", "API"), where.replace("/v1", "/v1/."), where + "%2f",
                 where.replace("api", "%61pi"), where + "%00", where + "?unknown=1"]
        if not last.startswith("{"):
            forms.append(where[: -len(last)] + coded)
        for form in forms:
            got, text, _ = ask(route["method"], form, known, "{}" if route["method"] != "GET" else None)
            # A coded last word may be the name of a thing: then that is what is not there.
            if got < 400:
                complain(f"{route['method']} {form}: {got}: {text[:100]}")
        for method in ("PUT", "PATCH", "TRACE", "CONNECT", "PROPFIND"):
            got, text, _ = ask(method, where, known, "{}")
            if got not in (400, 405):
                complain(f"{method} {where}: {got}")
        got, _, back = ask("OPTIONS", where)
        if got != 204 or route["method"] not in back.get("allow", ""):
            complain(f"OPTIONS {where}: {got} {back.get('allow')}")
        if "access-control-allow-origin" in back:
            complain(f"OPTIONS {where}: it speaks CORS")
    for route in routes:
        bounds(route)


def bounds(route):
    known = {"Authorization": f"Bearer {tokens['admin']}", "Content-Type": "application/json"}
    for one in route["query"]:
        bad = {"number": ["0x1", "-1", "1.5", "+5", "99999999999999999999", str(one.get("most", 0) + 1)],
               "word": ["nothing", "%00", one.get("words", "") + "|"], "since": ["yesterday", "2026-13-01"],
               "text": ["x" * (one.get("most", 0) + 1), "%ff", "%00"]}[one["kind"]]
        for value in bad:
            got, text, _ = ask("GET", address(route) + f"?{one['name']}={value}", known)
            # The thing may be missing, too; bad values of a text that is a name are looked for.
            if got not in (400, 404, 431):
                complain(f"GET {route['path']}?{one['name']}={value[:40]}: {got}: {text[:100]}")
        got, _, _ = ask("GET", address(route) + f"?{one['name']}=1&{one['name']}=1", known)
        if got not in (400, 404):
            complain(f"{route['path']}: {one['name']} twice: {got}")
    if route["method"] == "GET":
        return
    deep = '{"reason":' + "[" * 10000 + "]" * 10000 + "}"
    for body in ["[]", "1", "null", '{"', '{"unknown": 1}', '{"reason": 1}', deep, '{"reason":"\\u0000"}',
                 '{"reason":"a","reason":"b"}', '"x"', '{"reason":"' + "x" * 300 + '"}']:
        got, text, _ = ask(route["method"], address(route), {**known, "Sec-Fetch-Site": "same-origin"}, body)
        if got not in (400, 403, 428):
            complain(f"{route['method']} {route['path']} {body[:30]}: {got}: {text[:100]}")


def raw(text, wait=5):
    """What a socket gives back to these bytes: the status, or None where it is closed or waits."""
    global asked
    asked += 1
    with socket.create_connection((host, port), timeout=wait) as link:
        try:
            link.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
            got = b""
            while b"\r\n" not in got:
                piece = link.recv(4096)
                if not piece:
                    break
                got += piece
        except (ConnectionError, socket.timeout):
            return None
    return int(got.split()[1]) if got.startswith(b"HTTP/1.1 ") else None


def misuse():
    me = f"Host: {host}:{port}\r\n"
    get = f"GET /livez HTTP/1.1\r\n{me}"
    post = f"POST /api/v1/session HTTP/1.1\r\n{me}Content-Type: application/json\r\nOrigin: http://{host}:{port}\r\n"
    cases = [
        (200, get + "\r\n"),
        (400, "GET /livez HTTP/1.1\r\n\r\n"),
        (400, get + me + "\r\n"),
        (421, "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        (421, "GET /livez HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n"),
        (421, "GET /livez HTTP/1.1\r\nHost: \r\n\r\n"),
        (400, get + "X: a\r\n b\r\n\r\n"),
        (400, get + "X: a\r\n\tb\r\n\r\n"),
        (400, get + "X : a\r\n\r\n"),
        (400, get + ": a\r\n\r\n"),
        (400, get + "X\r\n\r\n"),
        (400, get + "X: a\x00b\r\n\r\n"),
        (400, get + "X: \xe9\r\n\r\n"),
        (400, get + "X: a\rb\r\n\r\n"),
        (400, get + "X: a\nY: b\r\n\r\n"),
        (400, f"GET http://{host}:{port}/livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET * HTTP/1.1\r\n{me}\r\n"),
        (400, f"CONNECT {host}:{port} HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET //livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /../livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /x/%2e%2e/livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /api%2fv1 HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /api%5cv1 HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /livez\\x HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /livez%00 HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /livez#x HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /liv\xe9z HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /livez HTTP/2.0\r\n{me}\r\n"),
        (400, f"GET /livez HTTP/0.9\r\n{me}\r\n"),
        (400, f"GET  /livez HTTP/1.1\r\n{me}\r\n"),
        (400, f"GET /livez\r\n{me}\r\n"),
        (400, f"G@T /livez HTTP/1.1\r\n{me}\r\n"),
        (431, get + "X: " + "a" * 9000 + "\r\n\r\n"),
        (431, get + "".join(f"X{i}: a\r\n" for i in range(70)) + "\r\n"),
        (431, "GET /" + "a" * 9000),
        (400, get.replace("/livez", "/api/v1/session") + "Cookie: daybook=a; daybook=b\r\n\r\n"),
        (400, post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
        (400, post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"),
        (400, post + "Content-Length: +2\r\n\r\n{}"),
        (400, post + "Content-Length: -2\r\n\r\n{}"),
        (400, post + "Content-Length: 2, 2\r\n\r\n{}"),
        (400, post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        (400, post + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}"),
        (400, post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        (400, post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}{}\r\n0\r\n\r\n"),
        (413, post + f"Content-Length: {2 ** 21}\r\n\r\n"),
        (413, post + "Transfer-Encoding: chunked\r\n\r\n" + "100000\r\n" + "a" * 0x100000 + "\r\n100000\r\n"),
        (400, post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        (400, post + "Content-Length: 2\r\n\r\n{}"),
        (400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
        (400, "\n\n"),
        (400, "GET / HTTP/1.1\nHost: x\n\n"),
    ]
    for want, text in cases:
        got = raw(text)
        if got != want:
            complain(f"{text[:90]!r}: {got} instead of {want}")
    # Two requests on one connection, sent at once: two answers, in order.
    with socket.create_connection((host, port), timeout=10) as link:
        link.sendall((get + "\r\n" + get.replace("livez", "none") + "Connection: close\r\n\r\n").encode())
        got = b""
        while piece := link.recv(65536):
            got += piece
    codes = re.findall(rb"HTTP/1\.1 (\d+)", got)
    if codes != [b"200", b"404"]:
        complain(f"two requests at once: {codes}")
    # HEAD has the length of GET, and no body.
    with socket.create_connection((host, port), timeout=10) as link:
        link.sendall((f"HEAD / HTTP/1.1\r\n{me}Connection: close\r\n\r\n").encode())
        got = b""
        while piece := link.recv(65536):
            got += piece
    if not got.endswith(b"\r\n\r\n") or not re.search(rb"Content-Length: [1-9]", got):
        complain("HEAD has a body, or no length")
    # More connections than one address may have: the rest is closed, the server goes on.
    links = [socket.create_connection((host, port), timeout=5) for _ in range(80)]
    closed = 0
    for link in links:
        link.settimeout(0.5)
        try:
            closed += link.recv(1) == b""
        except socket.timeout:
            pass
        except ConnectionError:
            closed += 1
        if closed >= 30:
            break
    if closed < 25:
        complain(f"of 80 connections of one address only {closed} were closed")
    for link in links:
        link.close()
    if raw(get + "\r\n") != 200:
        complain("it does not answer after 80 connections")


{"matrix": matrix, "misuse": misuse}[what]()
print(f"{asked} asked, {wrong} wrong")
