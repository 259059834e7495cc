/* The ledger of a claim: what is begun is written ahead, in windows (claim.done with negative
   ids, src/queue/claims/ledger.cpp), what is finished is written later (flush), and the heir goes by
   both (src/queue/claims/reclaim.cpp): finished tasks keep their end, begun ones are suspect, or unknown
   where nothing may be begun twice, and all others simply wait again.

   The effects are outside the database.  The holder may be declared dead at any instant, and be
   killed or only stand still.  A reply to a window may be lost: the claim is locked and its ledger
   read before it is written again.

   What is written as finished is not begun again; no task is over that nobody began; what simply
   waits again was not begun; of the tasks that are taken for begun at most a window was not; and,
   with ONCE, none is begun twice.

   Variants:
     ONCE          tasks that may not be begun twice: what was begun is unknown, for a person
     BEGUN_LATER   a window is written after its first task was begun
     NO_WINDOWS    nothing is written ahead: the whole claim is taken for begun
     NO_FENCE      a window is written without a look whether the claim is in hand
     NO_LEDGER     the heir does not read what was finished
     READ_FIRST    the heir reads the ledger, and takes the claim in a transaction of its own
     READ          after a lost reply the ledger is read without a lock, and what is not there is
                   taken for not written */

#define TASKS 3
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef LOST
#define LOST 1
#endif

mtype = { waiting, claimed, suspect, unknown, done };

/* The book: the first claim's rows, then those of the heir, who is not killed. */
bool in_hand = true;
bool row_begun[TASKS], row_done[TASKS];
mtype task[TASKS];

byte began[TASKS];              /* the world */
bool flying = false;            /* a window with a lost reply that may still land */
byte flying_lo, flying_hi;
byte lost = 0, needless = 0;

#ifdef NO_FENCE
#define FENCE true
#else
#define FENCE in_hand
#endif

inline write_window(lo, hi) {
  for (i : lo .. hi - 1) { row_begun[i] = true }
  i = 0
}

inline begin_task(t) {
  began[t]++;
#ifdef ONCE
  assert(began[t] == 1)
#endif
}

/* The holder: tasks below `written` are announced, below `begun` begun, below `flushed` in the
   ledger as finished. */
proctype Holder() {
  byte i = 0, written = 0, begun = 0, flushed = 0, upto = 0;
  bool held = true;
  do
#ifdef BEGUN_LATER
  :: atomic { begun < TASKS && begun == written -> begin_task(begun); begun++ }
     atomic { if :: FENCE -> write_window(written, begun); written = begun :: else -> goto gone fi }
#else
#ifdef NO_WINDOWS
  :: atomic { begun == 0 && written == 0 -> row_begun[0] = true; row_begun[1] = true;
       row_begun[2] = true; written = TASKS }
#else
  :: atomic { written < TASKS && begun == written ->
       upto = (written + WINDOW < TASKS -> written + WINDOW : TASKS) }
     if
     :: atomic { if :: FENCE -> write_window(written, upto); written = upto :: else -> goto gone fi }
     :: atomic { lost < LOST -> lost++; flying = true; flying_lo = written; flying_hi = upto }
        atomic {
#ifdef READ
          /* Not there, so it is written by nobody: it begins without. */
          written = upto
#else
          /* The lock waits for the transaction in doubt: by then it is there or never will be. */
          if :: FENCE -> flying = false; write_window(written, upto); written = upto
             :: else -> goto gone fi
#endif
        }
     fi
#endif
  :: atomic { begun < written -> begin_task(begun); begun++ }
#endif
  :: atomic { flushed < begun ->
       if
       :: in_hand ->
          for (i : flushed .. begun - 1) { row_done[i] = true }
          i = 0; flushed = begun
       :: else -> goto gone
       fi }
  :: atomic { flushed == TASKS ->       /* the end */
       if :: in_hand -> in_hand = false;
             for (i : 0 .. TASKS - 1) { task[i] = done } i = 0
          :: else fi;
       goto gone }
  :: goto gone                          /* killed */
  od;
gone:
  skip
}

proctype Network() {
  byte i = 0;
end:
  do
  :: atomic { flying -> flying = false; if :: in_hand -> write_window(flying_lo, flying_hi) :: else fi }
  :: atomic { flying -> flying = false }
  od
}

inline settle() {
  in_hand = false;
  for (t : 0 .. TASKS - 1) {
    if
#ifndef NO_LEDGER
    :: seen_done[t] -> task[t] = done; assert(began[t] > 0)
#endif
#ifdef NO_LEDGER
    :: row_begun[t] ->
#else
    :: !seen_done[t] && row_begun[t] ->
#endif
       if :: began[t] == 0 -> needless++ :: else fi;
#ifdef ONCE
       task[t] = unknown
#else
       task[t] = suspect
#endif
    :: else -> task[t] = waiting; assert(began[t] == 0)
    fi
  }
  t = 0;
  assert(needless <= WINDOW)
}

proctype Heir() {
  byte t = 0;
  bool seen_done[TASKS];
#ifdef READ_FIRST
  atomic { in_hand -> for (t : 0 .. TASKS - 1) { seen_done[t] = row_done[t] } t = 0 }
  atomic { if :: in_hand -> settle() :: else -> goto over fi };
#else
  atomic { if :: in_hand -> for (t : 0 .. TASKS - 1) { seen_done[t] = row_done[t] } settle()
              :: else -> goto over fi };
#endif
  do
  :: atomic { t < TASKS && (task[t] == waiting || task[t] == suspect) ->
       assert(!row_done[t]);            /* what was finished is not begun again */
       begin_task(t); task[t] = done; t++ }
  :: atomic { t < TASKS && task[t] != waiting && task[t] != suspect -> t++ }
  :: t == TASKS -> break
  od;
over:
  skip
}

init {
  byte i;
  atomic {
    for (i : 0 .. TASKS - 1) { task[i] = claimed }
    run Holder(); run Network(); run Heir()
  }
  timeout;
  for (i : 0 .. TASKS - 1) {
    assert(task[i] == done || task[i] == unknown || in_hand);
    assert(task[i] != done || began[i] > 0)
  }
}
