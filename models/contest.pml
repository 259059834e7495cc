/* Several nodes want one job.

   Default: one compare-and-set.
   Variants:
     LAST_WINS  the hand-made original: each writes its name, waits, and the name that is
                there then wins; ideal timing, nobody writes after another's wait is over
     SLOW       the same, but a write may be later than another node's wait */

#ifndef NODES
#define NODES 2
#endif
#define NOBODY 255

byte owner = NOBODY, written = 0, winners = 0;

proctype Node(byte me) {
#ifdef LAST_WINS
  atomic { owner = me; written++ }
  (written == NODES);
  atomic { if :: owner == me -> winners++ :: else fi }
#else
#ifdef SLOW
  owner = me;
  atomic { if :: owner == me -> winners++ :: else fi }
#else
  atomic { if :: owner == NOBODY -> owner = me; winners++ :: else fi }
#endif
#endif
}

init {
  byte i;
  atomic { for (i : 1 .. NODES) { run Node(i) } }
}

ltl one { [] (winners <= 1) }
