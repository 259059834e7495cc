/* Ticks of a schedule on several nodes (src/schedule/launch.cpp): each tick once, and none lost.

   A node looks, decides, and then, in one transaction that finds the schedule's version as it was
   (schedule.advance), decides all ticks up to the newest that is due, skips all but that, writes
   its row and takes its run (run.start).  A tick that runs, and whose run nobody has, is taken over
   in the same way (schedule.seen).  The end of the run, under its fence, ends the tick and frees
   the schedule.  One tick of a schedule runs at a time.

   The reply to a launch may be lost, and it may land yet.  It is not repeated: the node's renewals
   let go of that acquisition (run.disown) until it cannot land any more, and whoever looks next
   goes on with what he finds.

   Variants:
     NO_VERSION  what was decided is written without a look whether the schedule is as it was
     SPLIT       decides in one transaction; the tick's row and its run follow in another
     NO_FENCE    the end does not compare the acquisition
     NO_DISOWN   a launch whose reply was lost is left alone
     FORGETS     it is let go of once, though it may land yet */

#ifndef TICKS
#define TICKS 2
#endif
#ifndef NODES
#define NODES 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef STALLS
#define STALLS 1        /* leases that end under a living node */
#endif
#ifndef LOST
#define LOST 1
#endif
#define HOLDERS 5       /* >= NODES + CRASHES + STALLS */
#define NONE 255

mtype = { live, over, dead, none, held, free, done, launch, take_over };

/* The book: the schedule, its ticks, their runs, the holders. */
byte version = 1, decided = 0, running = NONE;
bool row[TICKS];
mtype run_state[TICKS];
byte holder[TICKS], acquisition[TICKS];
mtype lease[HOLDERS];

byte now = 0;                   /* ticks below it are due */
byte effects[TICKS];
bool skipped[TICKS];
bool orphan[HOLDERS];           /* its node was killed */
byte holders = 0, crashes = 0, stalls = 0, lost = 0;

/* A holder takes a run once with an answer, and once without. */
#define ACQUISITION(h, unheard) (2 * h + unheard)

/* The transaction with a lost reply. */
bool flying = false;
mtype f_what;
byte f_version, f_tick, f_holder;

#ifdef NO_VERSION
#define UNCHANGED(v) true
#else
#define UNCHANGED(v) (version == v)
#endif

inline enrol() { me = holders; holders++; lease[me] = live }

/* Leaves the tick in `got` where it committed. */
inline write(what, v, t, h, a) {
  got = NONE;
  if
  :: UNCHANGED(v) && lease[h] != dead && what == launch && run_state[t] == none && !row[t] ->
     assert(running == NONE);
     for (i : decided .. TICKS - 1) { if :: i < t -> skipped[i] = true :: else fi }
     i = 0;
     if :: t > decided -> row[t - 1] = true :: else fi;         /* several in a row are one row */
     decided = t + 1;
     row[t] = true;
     running = t;
     got = t
  :: UNCHANGED(v) && lease[h] != dead && what == take_over && run_state[t] == free -> got = t
  :: else
  fi;
  if
  :: got != NONE -> version++; run_state[t] = held; holder[t] = h; acquisition[t] = a
  :: else
  fi
}

inline unplan() { v = 0; plan = NONE; what = launch }

inline forget() { t = NONE; a = NONE; unplan(); orphaned = NONE; orphan_acquisition = NONE }

#define STANDS_FREE (running != NONE && run_state[running] == free)

proctype Node() {
  byte me, i = 0, got = NONE;
  byte v = 0, plan = NONE;
  mtype what = launch;
  byte t = NONE, a = NONE;
  byte orphaned = NONE, orphan_acquisition = NONE;
  atomic { enrol() }
end:
  do
  :: atomic { t == NONE && v == 0 && running == NONE && decided < now ->
       v = version; plan = now - 1; what = launch }
  :: atomic { t == NONE && v == 0 && STANDS_FREE -> v = version; plan = running; what = take_over }
#ifdef SPLIT
  :: atomic { v != 0 && what == launch && !UNCHANGED(v) -> unplan() }
  :: atomic { v != 0 && what == launch && UNCHANGED(v) ->
       for (i : decided .. TICKS - 1) { if :: i < plan -> skipped[i] = true :: else fi }
       i = 0; decided = plan + 1; version++; v = version }
     if
     :: atomic { lease[me] != dead && run_state[plan] == none -> running = plan; version++;
          a = ACQUISITION(me, 0); t = plan; unplan();
          run_state[t] = held; holder[t] = me; acquisition[t] = a; row[t] = true }
     :: atomic { crashes < CRASHES -> crashes++; orphan[me] = true; forget(); enrol() }
     fi
  :: atomic { v != 0 && what == take_over ->
#else
  :: atomic { v != 0 ->
#endif
       a = ACQUISITION(me, 0); write(what, v, plan, me, a); t = got; got = NONE; unplan() }
  :: atomic { v != 0 && lost < LOST ->
       lost++;
       flying = true; f_what = what; f_version = v; f_tick = plan; f_holder = me;
       orphaned = plan; orphan_acquisition = ACQUISITION(me, 1); unplan() }
#ifndef NO_DISOWN
  :: atomic { orphaned != NONE && run_state[orphaned] == held &&
              acquisition[orphaned] == orphan_acquisition ->
       run_state[orphaned] = free; orphaned = NONE; orphan_acquisition = NONE }
#ifdef FORGETS
  :: atomic { orphaned != NONE && acquisition[orphaned] != orphan_acquisition ->
       orphaned = NONE; orphan_acquisition = NONE }
#else
  :: atomic { orphaned != NONE && acquisition[orphaned] != orphan_acquisition && !flying ->
       orphaned = NONE; orphan_acquisition = NONE }
#endif
#endif
  :: atomic { t != NONE ->
       if
#ifdef NO_FENCE
       :: true ->
#else
       :: run_state[t] == held && acquisition[t] == a ->
#endif
          effects[t]++;
          assert(effects[t] == 1);
          run_state[t] = done;
          if :: running == t -> running = NONE; version++ :: else fi
#ifndef NO_FENCE
       :: else
#endif
       fi;
       t = NONE; a = NONE }
  /* run.free */
  :: atomic { running != NONE && run_state[running] == held && lease[holder[running]] == dead ->
       run_state[running] = free }
  :: atomic { running != NONE && run_state[running] == held && lease[holder[running]] == over &&
              holder[running] != me -> lease[holder[running]] = dead }
  :: atomic { lease[me] == over -> lease[me] = live }
  :: atomic { lease[me] == dead -> forget(); enrol() }
  :: atomic { crashes < CRASHES && (t != NONE || orphaned != NONE) ->
       crashes++; orphan[me] = true; forget(); enrol() }
  od
}

inline gone() { flying = false; f_what = launch; f_version = 0; f_tick = 0; f_holder = 0 }

proctype Network() {
  byte i = 0, got = NONE;
end:
  do
  :: atomic { flying -> write(f_what, f_version, f_tick, f_holder, ACQUISITION(f_holder, 1)); got = NONE; gone() }
  :: atomic { flying -> gone() }
  od
}

inline lapse(h) {
  atomic { lease[h] == live && (orphan[h] || stalls < STALLS) ->
    if :: orphan[h] :: else -> stalls++ fi; lease[h] = over }
}

proctype Clock() {
end:
  do
  :: atomic { now < TICKS -> now++ }
  :: lapse(0) :: lapse(1) :: lapse(2) :: lapse(3) :: lapse(4)
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. TICKS - 1) { run_state[i] = none; acquisition[i] = NONE }
    for (i : 0 .. HOLDERS - 1) { lease[i] = none }
    for (i : 1 .. NODES) { run Node() }
    run Network(); run Clock()
  }
  timeout;
  assert(decided == TICKS && running == NONE);
  for (i : 0 .. TICKS - 1) { assert(skipped[i] + effects[i] == 1) }
}
