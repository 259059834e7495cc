/* Claims: tasks of a queue in the hands of a holder (sql/<dialect>/claim.sql).

   A claim has a fresh id and is made in one transaction with the removal of its segments
   (claim.take).  The reply may be lost, and that transaction may land yet: claim.settle then
   inserts the same id as a tombstone, so that the claim is either there or never will be.  A
   task is done with its effect in one transaction that finds the claim in hand (claim.done); its
   end finds that too (claim.complete).  Take-back is two transactions: the holder is marked dead
   once its lease is over, then its claim becomes a tombstone (claim.seize, claim.bury), what its
   ledger says is done, and the rest is suspect.

   No effect is committed twice, no task is in two places, none stays in a claim that its holder
   does not know of, a renewal that succeeds tells the truth, and each take-back is paid for by a
   death.

   Variants:
     NO_FENCE    neither task nor end asks whether the claim is still in hand
     READ        a lost reply is settled by reading: no claim, so none was made
     SPLIT       looks for tasks, and takes them in a transaction of its own
     SEIZE_OVER  takes back once the lease is over, without the mark
     UNASKED     a holder that is marked dead may claim */

#ifndef TASKS
#define TASKS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef STALLS
#define STALLS 1        /* leases that end under a living process */
#endif
#ifndef LOST
#define LOST 1          /* replies to a take */
#endif
#define WORKERS 2
#define HOLDERS 4       /* >= WORKERS + CRASHES + STALLS: each new holder follows a death */
#define CLAIMS 8
#define NONE 255

mtype = { unused, live, over, dead, waiting, suspect, claimed, done, in_hand, tombstone };

/* The book. */
mtype task[TASKS], claim[CLAIMS], lease[HOLDERS];
byte within[TASKS];                 /* its claim */
byte ledger[TASKS];             /* the claim that has it as done */
byte holder[CLAIMS];

byte effects[TASKS];
bool orphan[HOLDERS];           /* its process was killed */
bool flying[CLAIMS];            /* a take that may still land */
byte claims = 0, holders = 0, crashes = 0, stalls = 0, lost = 0, deaths = 0, taken_back = 0;

#define CAN_CLAIM(t) (task[t] == waiting || task[t] == suspect)
#define SOMETHING    (CAN_CLAIM(0) || CAN_CLAIM(1))
#ifdef UNASKED
#define MAY_CLAIM(h) true
#else
#define MAY_CLAIM(h) (lease[h] != dead)
#endif
#ifdef NO_FENCE
#define FENCE(c)     true
#else
#define FENCE(c)     (claim[c] == in_hand)
#endif
#ifdef SEIZE_OVER
#define ABANDONED(h) (lease[h] == dead || lease[h] == over)
#else
#define ABANDONED(h) (lease[h] == dead)
#endif

inline enrol() { me = holders; holders++; lease[me] = live }

/* All that wait, or one suspect.  A claim of that id that is there already keeps it from landing. */
inline take(c, h) {
  if
  :: MAY_CLAIM(h) && claim[c] == unused && SOMETHING ->
     claim[c] = in_hand;
     holder[c] = h;
     if
     :: task[0] == waiting || task[1] == waiting ->
        for (i : 0 .. TASKS - 1) {
          if :: task[i] == waiting -> task[i] = claimed; within[i] = c :: else fi
        }
     :: else ->
        if :: task[0] == suspect -> i = 0 :: else -> i = 1 fi;
        task[i] = claimed;
        within[i] = c
     fi;
     i = 0
  :: else
  fi
}

inline remember(c) {
  for (i : 0 .. TASKS - 1) { mine[i] = (task[i] == claimed && within[i] == c) }
  i = 0
}

inline forget() { c = NONE; mine[0] = false; mine[1] = false }

inline settle() {
  atomic {
    if
    :: claim[c] == in_hand -> remember(c)
    :: claim[c] == tombstone -> forget()
#ifdef READ
    :: claim[c] == unused -> forget()
#else
    :: claim[c] == unused -> claim[c] = tombstone; forget()
#endif
    fi
  }
}

inline perform(t) {
  atomic {
    c != NONE && mine[t] && ledger[t] != c ->
    if
    :: FENCE(c) -> effects[t]++; assert(effects[t] == 1); ledger[t] = c
    :: else -> forget()
    fi
  }
}

/* Segments are written from what the holder remembers. */
inline complete() {
  atomic {
    c != NONE && (!mine[0] || ledger[0] == c) && (!mine[1] || ledger[1] == c) ->
    if
    :: FENCE(c) ->
       for (i : 0 .. TASKS - 1) {
         if :: mine[i] -> assert(task[i] == claimed && within[i] == c); task[i] = done :: else fi
       }
       i = 0;
       claim[c] = unused
    :: else
    fi;
    forget()
  }
}

/* Until the end of another's claim only; the loop of claim.abandoned. */
inline take_back(k) {
  atomic { k < claims && claim[k] == in_hand && ABANDONED(holder[k]) ->
    for (i : 0 .. TASKS - 1) {
      if
      :: task[i] == claimed && within[i] == k && ledger[i] == k -> task[i] = done
      :: task[i] == claimed && within[i] == k && ledger[i] != k -> task[i] = suspect
      :: else
      fi
    }
    i = 0;
    claim[k] = tombstone;
#ifdef SEIZE_OVER
    deaths++;
#endif
    taken_back++;
    assert(taken_back <= deaths)
  }
}

inline bury(h) {
#ifdef SEIZE_OVER
  false
#else
  atomic { lease[h] == over && h != me -> lease[h] = dead; deaths++ }
#endif
}

proctype Worker() {
  byte me, c = NONE, i = 0;
  bool mine[TASKS];
  atomic { enrol() }
end:
  do
#ifdef SPLIT
  :: atomic { c == NONE && SOMETHING && claims < CLAIMS -> c = claims; claims++;
       for (i : 0 .. TASKS - 1) { mine[i] = CAN_CLAIM(i) } i = 0 }
     atomic { claim[c] = in_hand; holder[c] = me;
       for (i : 0 .. TASKS - 1) { if :: mine[i] -> task[i] = claimed; within[i] = c :: else fi } i = 0 }
#else
  :: atomic { c == NONE && SOMETHING && MAY_CLAIM(me) && claims < CLAIMS ->
       c = claims; claims++; take(c, me); remember(c) }
#endif
  :: atomic { c == NONE && SOMETHING && lost < LOST && claims < CLAIMS ->
       lost++; c = claims; claims++; holder[c] = me; flying[c] = true }
     if
     :: settle()
     :: atomic { crashes < CRASHES -> crashes++; orphan[me] = true; forget(); enrol() }
     fi
  :: perform(0) :: perform(1)
  :: complete()
  :: take_back(0) :: take_back(1) :: take_back(2) :: take_back(3) :: take_back(4) :: take_back(5)
  :: bury(0) :: bury(1) :: bury(2) :: bury(3)
  :: atomic { lease[me] == over -> lease[me] = live; assert(c == NONE || claim[c] == in_hand) }
  :: atomic { lease[me] == dead -> forget(); enrol() }
  :: atomic { crashes < CRASHES && (c != NONE) -> crashes++; orphan[me] = true; forget(); enrol() }
  od
}

proctype Network() {
  byte i = 0, k = 0;
end:
  do
  :: atomic { flying[k] -> flying[k] = false; take(k, holder[k]) }
  :: atomic { flying[k] -> flying[k] = false }
  :: atomic { k + 1 < claims && !flying[k] -> k++ }
  od
}

inline lapse(h) {
  atomic { lease[h] == live && (orphan[h] || stalls < STALLS) ->
    if :: orphan[h] :: else -> stalls++ fi; lease[h] = over }
}

proctype Clock() {
end:
  do :: lapse(0) :: lapse(1) :: lapse(2) :: lapse(3) od
}

init {
  byte i;
  atomic {
    for (i : 0 .. CLAIMS - 1) { claim[i] = unused }
    for (i : 0 .. HOLDERS - 1) { lease[i] = unused }
    for (i : 0 .. TASKS - 1) { task[i] = waiting; within[i] = NONE; ledger[i] = NONE }
    run Worker(); run Worker(); run Network(); run Clock()
  }
  timeout;
  assert(task[0] == done && task[1] == done)
}
