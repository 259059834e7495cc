#!/usr/bin/env python3
# Asks another system for the quantities of a shop's products, one at a time: many tasks in one
# process, as `daybook daemon` starts it for a [[queue]] with `batch`. It reads one task a line and
# writes one result a line. If it dies, the unanswered tasks are tried again.
#
#   sync_stock.py http://HOST:PORT [DATABASE-URL]        (default: DAYBOOK_DATABASE_URL, which needs
#                                                         database_url = true)
#
# A task may be done twice; writing its quantity twice does no harm. sync_stock.cpp writes each turn
# exactly once. PostgreSQL needs python3-psycopg2, MariaDB python3-pymysql.
import http.client
import json
import os
import sys
import time
from datetime import datetime, timedelta
from urllib.parse import quote, unquote, urlsplit


def connect(url):
    """Connects to the shop's database; returns the connection and the mark of a parameter."""
    at = urlsplit(url)
    if at.scheme == "sqlite":
        import sqlite3
        return sqlite3.connect(url.removeprefix("sqlite:"), timeout=30), "?"
    if at.scheme == "postgresql":
        import psycopg2
        return psycopg2.connect(url), "%s"
    import pymysql
    return pymysql.connect(host=at.hostname, port=at.port or 3306, user=unquote(at.username),
                           password=unquote(at.password or ""), database=at.path[1:]), "%s"


class Shop:
    def __init__(self, url):
        self.base, self.mark = connect(url)

    def write(self, code, quantity):
        cursor = self.base.cursor()
        cursor.execute("update product set quantity = ?, asked_us = ? where code = ?"
                       .replace("?", self.mark), (quantity, time.time_ns() // 1000, code))
        self.base.commit()


class Stock:
    def __init__(self, url):
        self.at = urlsplit(url).netloc
        self.line = None

    def ask(self, code, request):
        """The answer's status and text. One connection, made anew after each trouble."""
        self.line = self.line or http.client.HTTPConnection(self.at, timeout=10)
        try:
            self.line.request("GET", "/stock/" + quote(code), headers={"X-Request-Id": request})
            answer = self.line.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.line = None
            raise


def microseconds(instant):
    return (datetime.fromisoformat(instant) - datetime.fromisoformat("1970-01-01T00:00:00Z")) \
        // timedelta(microseconds=1)


def sync(task, stock, shop):
    request = f"{microseconds(task['turn'])}/{task['idempotency_key']}"
    status, text = stock.ask(task["key"], request)
    if status == 429:
        return {"result": "snooze", "for": "1s", "remark": "asked too fast"}
    if status == 404:
        return {"result": "cancel", "remark": "not known there"}
    if status != 200:
        return {"result": "failure", "remark": f"HTTP {status}"}
    shop.write(task["key"], int(text))
    return {"result": "success"}


def main(stock_url, shop_url):
    stock, shop = Stock(stock_url), Shop(shop_url)
    for line in sys.stdin:
        task = json.loads(line)
        try:
            answer = sync(task, stock, shop)
        except (OSError, http.client.HTTPException) as trouble:
            answer = {"result": "failure", "remark": f"no answer: {trouble!r}"}
        print(json.dumps({"key": task["key"], **answer}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("sync_stock.py: which stock system? See its head.")
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ["DAYBOOK_DATABASE_URL"])
