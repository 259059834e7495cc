/* A queue in order: tasks of one series, each added in a transaction of its own, which may be
   committed long after the instant that it is stamped with.  Of those that are not over the one
   with the earliest stamp is begun, where nobody has any of them in hand.  Who claims does so in
   turn: looking and taking are one atomic step.

   Two workers never have a task of the series at once; and while the clock does not go back, a
   task is begun only when all that were committed before it was stamped are over.

   Variants:
     ONLY_EARLIER  asks only whether one with an earlier stamp is in hand
     NO_TURNS      looks, and takes in a transaction of its own
   Sizes: BACK, so often the clock steps back. */

#ifndef TASKS
#define TASKS 3
#endif
#ifndef BACK
#define BACK 0
#endif
#define FAILURES 1
#define NONE 255

byte clock = 4, back = BACK, failures = FAILURES, ended = 0, left = 0, in_hand = 0;
byte stamp[TASKS];
bool there[TASKS], over[TASKS], taken[TASKS];
typedef row { bool was[TASKS] }
row before[TASKS];        /* committed when this one was stamped */

#define earlier(u, t) (stamp[u] < stamp[t] || (stamp[u] == stamp[t] && u < t))

proctype Producer(byte me) {
  byte u;
  atomic {
    stamp[me] = clock;
    for (u : 0 .. TASKS - 1) { before[me].was[u] = there[u] }
    if
    :: clock++
    :: back > 0 -> back--; clock = clock - 2
    fi
  }
  atomic { if :: there[me] = true; left++ :: skip fi; ended++ }     /* or is rolled back */
}

/* The one that may be begun, or NONE. */
inline look() {
  head = NONE;
  for (t : 0 .. TASKS - 1) {
    if
    :: there[t] && !over[t] && (head == NONE || earlier(t, head)) -> head = t
    :: else
    fi
  }
  for (t : 0 .. TASKS - 1) {
    if
#ifdef ONLY_EARLIER
    :: head != NONE && taken[t] && (t == head || earlier(t, head)) -> head = NONE
#else
    :: head != NONE && taken[t] -> head = NONE
#endif
    :: else
    fi
  }
}

inline take() {
  if
  :: head != NONE && !taken[head] && !over[head] ->
     taken[head] = true;
     in_hand++;
     assert(in_hand == 1);
#if BACK == 0
     for (t : 0 .. TASKS - 1) { assert(!before[head].was[t] || over[t]) }
#endif
  :: else -> head = NONE
  fi
}

proctype Worker() {
  byte t, head;
  do
#ifdef NO_TURNS
  :: atomic { look() }
     atomic { take() }
#else
  :: atomic { look(); take() }
#endif
     if
     :: atomic { head != NONE -> taken[head] = false; in_hand--; over[head] = true; left--; head = NONE }
     :: atomic { head != NONE && failures > 0 -> failures--; taken[head] = false; in_hand--; head = NONE }
     :: head == NONE
     fi
  :: atomic { ended == TASKS && left == 0 -> break }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. TASKS - 1) { run Producer(i) }
    run Worker(); run Worker()
  }
}
