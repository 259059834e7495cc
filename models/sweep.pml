/* A sweep makes one instance for each committed row.  Ids are drawn in one order and
   committed in another; a drawn id may be rolled back.

   Default: an anti-join: each committed row that has no instance yet.
   Variant CURSOR: each committed row with an id above the greatest one seen. */

#define ROWS 3

byte drawn = 0, ended = 0;
bool committed[ROWS];
byte instances[ROWS];
byte cursor = 0;

proctype Writer() {
  byte id;
  atomic { id = drawn; drawn++ }
  if :: committed[id] = true :: skip fi;
  ended++
}

inline sweep() {
#ifdef CURSOR
  byte seen = cursor;
  for (i : cursor .. ROWS - 1) { if :: committed[i] -> instances[i]++; seen = i + 1 :: else fi }
  cursor = seen
#else
  for (i : 0 .. ROWS - 1) { if :: committed[i] && instances[i] == 0 -> instances[i]++ :: else fi }
#endif
}

proctype Sweeper() {
  byte i;
  do
  :: atomic { ended < ROWS -> sweep() }
  :: atomic { ended == ROWS -> sweep(); break }         /* the last pass sees everything */
  od;
  for (i : 0 .. ROWS - 1) { assert(instances[i] == committed[i]) }
}

init { atomic { run Writer(); run Writer(); run Writer(); run Sweeper() } }
