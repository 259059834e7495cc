/* The reply to the end of a claim is lost: was it ended, or taken back?

   The end deletes the claim's row (claim.complete).  Who takes the claim back leaves a tombstone
   in its place (claim.bury), which is pruned a day later (claim.prune).  The end is repeated until
   it is answered; where it finds nothing in hand, the rows tell (claim.look): a tombstone, it was
   taken back; no row, it was ended.

   Done is said only of what this holder has ended, and lost only of what was taken back, or by a
   holder that has stood still for as long as a tombstone is kept.

   Variants:
     NO_TOMBSTONE  who takes back deletes the row
     READ          does not repeat the end before it looks
     PRUNED        the process may stand still for as long as a tombstone is kept
     BY_HOLDER     no row, so it was ended, only if no tombstone can have been pruned yet: the holder
                   is alive, or was declared dead not long ago.  Else nobody can say, and it counts
                   as taken back */

#define LOST 2

mtype = { in_hand, gone, tombstone, alive, dead, long_dead };

mtype claim = in_hand, holder = alive;
byte flying = 0, lost = 0;
bool ended = false, taken_back = false;

inline end_claim() { if :: claim == in_hand -> claim = gone; ended = true :: else fi }

proctype Network() {
end:
  do
  :: atomic { flying > 0 -> flying--; end_claim() }
  :: atomic { flying > 0 -> flying-- }
  od
}

/* It takes the holder for dead, rightly or not. */
proctype Heir() {
  if
  :: atomic { holder == alive -> holder = dead }
     atomic {
       if
       :: claim == in_hand -> taken_back = true;
#ifdef NO_TOMBSTONE
          claim = gone
#else
          claim = tombstone
#endif
       :: else
       fi }
  :: skip
  fi
}

/* A tombstone is younger than the death that it follows. */
proctype Time() {
end:
  do
  :: atomic { holder == dead -> holder = long_dead }
#ifdef PRUNED
  :: atomic { holder == long_dead && claim == tombstone -> claim = gone }
#endif
  od
}

proctype Me() {
  bool done = false, answered = false;
  do
  :: atomic { lost < LOST -> lost++; flying++ }
#ifdef READ
  :: atomic { lost > 0 -> break }
#else
  :: atomic { claim == in_hand -> end_claim(); done = true; answered = true; break }
  :: atomic { claim != in_hand -> break }
#endif
  od;
  if
  :: answered
  :: else ->
    atomic {
#ifdef BY_HOLDER
      done = (claim == gone && holder != long_dead)
#else
      done = (claim == gone)
#endif
      ;
      assert(!done || ended);
      assert(done || taken_back || holder == long_dead)
    }
  fi
}

init { atomic { run Network(); run Heir(); run Time(); run Me() } }
