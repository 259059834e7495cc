/* A schedule on several nodes: each tick once, and none lost.

   Default: one row per tick.  A due tick is claimed if nobody has it or if its claimer's
   lease is over; each claim advances the epoch; effect and `done` are one fenced transaction.
   Variants:
     NO_FENCE  the effect does not compare the epoch
     LEADER    one lease for a leader, no rows: each node remembers which tick it ran last */

#define TICKS 2
#ifndef NODES
#define NODES 2
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef STALLS
#define STALLS 2        /* leases that end under a living claimer */
#endif
#define NONE 255

byte now = 0;           /* ticks below it are due */
byte epoch[TICKS];      /* 0: never claimed */
bool over[TICKS];       /* the claimer's lease is over */
bool orphan[TICKS];     /* the claimer was killed */
bool done[TICKS];
bool twice = false;
bool ran[TICKS];
byte crashes = 0, stalls = 0;
byte leader = NONE;

#define DUE(t) (t < now && !done[t] && (epoch[t] == 0 || over[t]))

inline effect(t) { if :: ran[t] -> twice = true :: else -> ran[t] = true fi }

#ifdef LEADER
proctype Node(byte me) {
  byte last = 0;
end:
  do
  :: atomic { last < now && (leader == NONE || leader == me) -> leader = me; effect(last); last++ }
  :: atomic { leader == me && crashes < CRASHES -> crashes++; leader = NONE }
  od
}
#else
inline claim(t) {
  atomic { mine == NONE && DUE(t) -> epoch[t]++; over[t] = false; orphan[t] = false; mine = t; my_epoch = epoch[t] }
}

#ifdef NO_FENCE
#define FENCE(t) true
#else
#define FENCE(t) (epoch[t] == my_epoch)
#endif

inline forget() { mine = NONE; my_epoch = 0 }

proctype Node(byte me) {
  byte mine = NONE, my_epoch = 0;
end:
  do
  :: claim(0)
  :: claim(1)
  :: atomic { mine != NONE -> if :: FENCE(mine) -> effect(mine); done[mine] = true :: else fi; forget() }
  :: atomic { mine != NONE && crashes < CRASHES ->
       crashes++; if :: epoch[mine] == my_epoch -> orphan[mine] = true :: else fi; forget() }
  od
}
#endif

inline lapse(t) {
  atomic { epoch[t] > 0 && !done[t] && !over[t] && (orphan[t] || stalls < STALLS) ->
    if :: orphan[t] :: else -> stalls++ fi; over[t] = true }
}

proctype Clock() {
end:
  do
  :: now < TICKS -> now++
  :: lapse(0)
  :: lapse(1)
  od
}

init {
  byte i;
  atomic { for (i : 1 .. NODES) { run Node(i) } run Clock(); i = 0 }
}

ltl once { [] !twice }
ltl ends { <> (done[0] && done[1]) }
