"""A person at a terminal: what the keys Ctrl-C and Ctrl-Z do.

    terminal.py interrupt    runs script.sh, answers its question, presses Ctrl-C
    terminal.py stop [WORD...]
                             types a run into a shell, behind the words, presses Ctrl-Z, then fg
    terminal.py press FILE WORD...
                             runs the words, presses Ctrl-C when they have written the file
    terminal.py show COLUMNS WORD...
                             prints what the words write to a terminal of that width, byte for byte
"""
import fcntl
import os
import pty
import struct
import sys
import termios
import time


def until(what, test):
    for _ in range(3000):
        if test():
            return
        time.sleep(0.02)
    sys.exit("waited in vain: " + what)


def written(name):
    return os.path.exists(name) and open(name).read().endswith("\n")


def state_of(pid):
    return open("/proc/%s/stat" % pid).read().split(") ")[1][0]


def in_terminal(*words):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(words[0], words)
    return pid, terminal


def interrupt():
    pid, terminal = in_terminal("bash", "script.sh")
    until("the command", lambda: written("tty.pid"))
    os.write(terminal, b"words\n")
    until("the answer", lambda: written("tty.ready"))
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    print("signal", os.WTERMSIG(status) if os.WIFSIGNALED(status) else "none")


def stop():
    shell, terminal = in_terminal("bash", "--norc", "--noprofile", "-i")
    # It waits by itself: a shell whose vfork() is stopped before its exec() does not stop.
    os.mkfifo("stop.go")
    words = " ".join([*sys.argv[2:], "daybook"]).encode()
    os.write(terminal, words + b" run stop -- sh -c 'echo $$ >stop.pid; read go <stop.go'\n")
    until("the command", lambda: written("stop.pid"))
    command = open("stop.pid").read().strip()
    time.sleep(0.2)
    os.write(terminal, b"\x1a")
    until("the stop", lambda: state_of(command) == "T")
    until("the shell", lambda: os.tcgetpgrp(terminal) == shell)
    os.write(os.open("stop.go", os.O_RDWR), b"go\n")
    os.write(terminal, b"fg; echo code $? >fg.code\n")
    until("the end", lambda: written("fg.code"))
    print(open("fg.code").read().strip())
    os.write(terminal, b"exit\n")


def press():
    pid, terminal = in_terminal(*sys.argv[3:])
    until("the file", lambda: written(sys.argv[2]))
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    print("code", os.WEXITSTATUS(status) if os.WIFEXITED(status) else "none")


def show():
    pid, terminal = in_terminal("sh", "-c", 'read go; exec "$@"', "sh", *sys.argv[3:])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[2]), 0, 0))
    os.write(terminal, b"go\n")
    while True:
        try:
            some = os.read(terminal, 4096)
        except OSError:  # what Linux says at the end
            some = b""
        if not some:
            break
        sys.stdout.buffer.write(some)
    os.waitpid(pid, 0)


{"interrupt": interrupt, "stop": stop, "press": press, "show": show}[sys.argv[1]]()
