/* Runs held by processes under a lease that lies on one holder row per process.

   An atomic block is one committed transaction.  A process may stand still between
   any two of them for as long as it likes and then go on, as after a SIGSTOP, a long
   garbage collection or a slow network: that is what interleaving means here.

   Renewal touches the holder row only (holder.renew).  Take-over is three transactions: `bury`
   marks a holder dead once its lease is over (holder.mark_dead), `vacate` frees a run of the dead
   (run.free), `take` takes what is free (run.start).  That START also compares the epoch that it
   has read is in start.pml; that an older copy of the book may come back, in failover.pml.

   A person may free a run of the living (operate.release), and counts that on the holder's row in
   the same transaction (operate.recall).  A renewal compares that count, and finds no row where it
   is another: the holder then looks which of its runs are still its own.  That a run with a
   deadline may be freed once that is over is not modelled: its holder goes by its own clock.

   Variants, the default being the protocol:
     NO_FENCE      steps and finish do not compare epoch and acquisition
     RECORD_FIRST  the step is recorded in one transaction, its effect follows in another
     EFFECT_FIRST  the effect is committed in one transaction, the record follows in another
     NO_BURY       nobody marks a dead holder: no take-over
     NO_MARK       take-over frees runs whose holder's lease is over, without `bury`
     NO_RECALL     a renewal does not compare the count of what people took
     UNDO_MARK     a renewal takes the dead mark away again
     STALE_READ    `take` reads its own holder row from an old snapshot (Galera, snapshot
                   isolation), so that it may miss its own death, as often as LATE times
     UNASKED       `take` does not ask whether its own holder row is alive */

#ifndef PROCS
#define PROCS 2
#endif
#ifndef RUNS
#define RUNS 1          /* 1 or 2 */
#endif
#ifndef CRASHES
#define CRASHES 2       /* processes killed; most come back, one at least does */
#endif
#ifndef STALLS
#define STALLS 2        /* leases that end under a living process, clocks that step back */
#endif
#ifndef RELEASES
#define RELEASES 0      /* runs that a person takes from whoever has them */
#endif
#define LATE 2
#define STEPS 2
#define HOLDERS 7       /* >= PROCS + CRASHES + STALLS: each new holder row follows a death */

mtype = { unused, live, over, dead, free, held, done };

/* The database.  `live` and `over` are what the database clock says of lease_until;
   `dead` is the mark, which is for ever. */
typedef Run { mtype state; byte step; byte epoch; byte acquisition; byte holder; byte effects[STEPS] };
Run run_row[2];
mtype lease[HOLDERS];
byte recalls[HOLDERS];

/* The world outside the database. */
byte enrolled = 0;              /* holder rows ever inserted */
bool orphan[HOLDERS];           /* its process was killed */
byte crashes = 0, stalls = 0, releases = 0, late = 0, gone = 0;

/* What must not happen, and what must. */
bool twice = false;             /* an effect committed a second time */
bool incomplete = false;        /* a run is done without all its effects */
bool disorder = false;          /* a write accepted from an epoch that is not the latest */
bool betrayed = false;          /* a renewal succeeded though something held was lost */
byte open = RUNS;               /* runs not yet done */

/* What a process remembers of a run that it believes to hold; epoch 0: it does not. */
typedef Memory { byte epoch; byte acquisition; byte step; bool half };

#define BELIEVES(r) (my[r].epoch != 0)
#define CURRENT(r)  (run_row[r].epoch == my[r].epoch && run_row[r].acquisition == my[r].acquisition && \
                     run_row[r].state == held)
#ifdef NO_FENCE
#define FENCE(r)    true
#else
#define FENCE(r)    CURRENT(r)
#endif

#ifdef NO_MARK
#define MAY_TAKE    (lease[mine] == live)
#define VACATED(h)  (lease[h] == dead || lease[h] == over)
#else
#ifdef STALE_READ
#define MAY_TAKE    (lease[mine] != dead || late < LATE)
#else
#ifdef UNASKED
#define MAY_TAKE    (run_row[0].epoch < 8)  /* only to keep the model finite */
#else
#define MAY_TAKE    (lease[mine] != dead)
#endif
#endif
#define VACATED(h)  (lease[h] == dead)
#endif

inline enrol() { mine = enrolled; enrolled++; lease[mine] = live; known = 0 }

inline forget(r) { my[r].epoch = 0; my[r].acquisition = 0; my[r].step = 0; my[r].half = false }

/* Without a failover, epoch and acquisition always change together; failover.pml
   shows why the fence compares both. */
inline take(r) {
  atomic {
    !BELIEVES(r) && MAY_TAKE && run_row[r].state == free ->
#ifdef STALE_READ
      if :: lease[mine] == dead -> late++ :: else fi;
#endif
      run_row[r].state = held;
      run_row[r].holder = mine;
      run_row[r].epoch++;
      run_row[r].acquisition++;
      my[r].epoch = run_row[r].epoch;
      my[r].acquisition = run_row[r].acquisition;
      my[r].step = run_row[r].step
  }
}

inline vacate(r) {
  atomic { run_row[r].state == held && VACATED(run_row[r].holder) -> run_row[r].state = free }
}

inline release(r) {
  atomic {
    releases < RELEASES && run_row[r].state == held ->
      releases++; run_row[r].state = free; recalls[run_row[r].holder]++
  }
}

inline bury(r) {
#if defined(NO_BURY) || defined(NO_MARK)
  false
#else
  atomic { run_row[r].state == held && lease[run_row[r].holder] == over -> lease[run_row[r].holder] = dead }
#endif
}

inline effect(r) {
  if :: run_row[r].effects[my[r].step] > 0 -> twice = true
     :: else -> run_row[r].effects[my[r].step]++ fi;
  if :: !CURRENT(r) -> disorder = true :: else fi
}

inline record(r) { run_row[r].step = my[r].step + 1 }

#define TO_DO(r) (BELIEVES(r) && my[r].step < STEPS)

/* No row compares the step: under the fence nobody else can have moved it. */
inline work(r) {
#ifdef RECORD_FIRST
  if
  :: atomic { TO_DO(r) && !my[r].half -> if :: FENCE(r) -> record(r); my[r].half = true :: else -> forget(r) fi }
  :: atomic { TO_DO(r) && my[r].half -> if :: FENCE(r) -> effect(r); my[r].half = false; my[r].step++ :: else -> forget(r) fi }
  fi
#else
#ifdef EFFECT_FIRST
  if
  :: atomic { TO_DO(r) && !my[r].half -> if :: FENCE(r) -> effect(r); my[r].half = true :: else -> forget(r) fi }
  :: atomic { TO_DO(r) && my[r].half -> if :: FENCE(r) -> record(r); my[r].half = false; my[r].step++ :: else -> forget(r) fi }
  fi
#else
  atomic { TO_DO(r) -> if :: FENCE(r) -> effect(r); record(r); my[r].step++ :: else -> forget(r) fi }
#endif
#endif
}

inline finish(r) {
  atomic {
    BELIEVES(r) && my[r].step == STEPS ->
      if
      :: FENCE(r) ->
           if :: !CURRENT(r) -> disorder = true :: else fi;
           if :: run_row[r].state != done -> open-- :: else fi;
           run_row[r].state = done;
           if :: run_row[r].effects[0] == 0 || run_row[r].effects[1] == 0 -> incomplete = true :: else fi
      :: else
      fi;
      forget(r)
  }
}

#define ROBBED ((BELIEVES(0) && !CURRENT(0)) || (BELIEVES(1) && !CURRENT(1)))

inline renewed() {
  lease[mine] = live;
  if :: ROBBED -> betrayed = true :: else fi
}

#ifdef NO_RECALL
#define RENEWS true
#else
#define RENEWS (recalls[mine] == known)
#endif

inline look(r) { if :: BELIEVES(r) && !CURRENT(r) -> forget(r) :: else fi }

/* A renewal of a live lease changes nothing here but where something was taken. */
inline renew() {
  if
  :: atomic { lease[mine] == over && RENEWS -> renewed() }
  :: atomic { lease[mine] == live && RENEWS && ROBBED && !betrayed -> renewed() }
  :: atomic { lease[mine] != dead && !RENEWS -> look(0); look(1); known = recalls[mine] }
#ifdef UNDO_MARK
  :: atomic { lease[mine] == dead -> renewed() }
#else
  :: atomic { lease[mine] == dead -> forget(0); forget(1); enrol() }    /* 0 rows: all is lost, go on as another */
#endif
  fi
}

inline crash() {
  atomic {
    crashes < CRASHES && open > 0 ->
      crashes++; orphan[mine] = true; forget(0); forget(1);
      if :: enrol()
         :: gone < PROCS - 1 -> gone++; mine = 0; goto end_gone fi
  }
}

proctype Process() {
  byte mine, known = 0;         /* known: the recalls that it has heard of */
  Memory my[2];
  atomic { enrol() }
end:
  do
  :: take(0)   :: take(1)
  :: bury(0)   :: bury(1)
  :: vacate(0) :: vacate(1)
  :: work(0)   :: work(1)
  :: finish(0) :: finish(1)
  :: renew()
  :: crash()
  od;
end_gone:
  false
}

/* The lease of a killed process ends for certain, that of a living one only if it
   stalls.  A lease that was over may be valid again: the clock stepped back, or a
   renewal of a killed process was still on its way. */
inline tick(h) {
  if
  :: atomic { lease[h] == live && orphan[h] -> lease[h] = over }
  :: atomic { lease[h] == live && !orphan[h] && stalls < STALLS && open > 0 -> stalls++; lease[h] = over }
  :: atomic { lease[h] == over && stalls < STALLS && open > 0 -> stalls++; lease[h] = live }
  fi
}

proctype Clock() {
end:
  do :: release(0) :: release(1)
     :: tick(0) :: tick(1) :: tick(2) :: tick(3) :: tick(4) :: tick(5) :: tick(6) od
}

init {
  byte i;
  atomic {
    for (i : 0 .. HOLDERS - 1) { lease[i] = unused }
    run_row[0].state = free;
    run_row[1].state = (RUNS == 2 -> free : done);
    for (i : 1 .. PROCS) { run Process() }
    run Clock();
    i = 0
  }
}

/* Each take-over is paid for by a death. */
#define CALM (run_row[0].epoch <= 1 + CRASHES + STALLS + RELEASES)

ltl once     { [] !twice }
ltl complete { [] !incomplete }
ltl order    { [] !disorder }
ltl trust    { [] !betrayed }
ltl calm     { [] CALM }
ltl kept     { [] !(twice || incomplete || disorder) }              /* once, complete and order */
ltl safe     { [] (!(twice || incomplete || disorder || betrayed) && CALM) }
ltl ends     { <> (open == 0) }
ltl untaken  { [] (run_row[0].epoch < 2) }      /* a witness, must be violated: take-over does happen */
