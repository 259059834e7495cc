/* Bricks are added to a sum that may be closed, taken back, and added again; the sum is
   always that of the bricks in it.

   Default: one transaction takes the brick by compare-and-set, adds its amount in place,
   and checks that the sum is open; any 0 rows roll all of it back.  The whole transaction
   may run again after a lost reply.
   Variants:
     SPLIT         brick and sum in two transactions, a crash may come between
     READ_MODIFY   the sum is computed from a value read in an earlier transaction
     NO_ROLLBACK   0 rows on the sum do not roll the brick back
     BLIND_RETRY   after a lost reply only the addition is repeated */

#define BRICKS 2
#define AMOUNT(b) (b + 1)

mtype = { loose, used };
mtype brick[BRICKS];
short total = 0;
bool closed = false;
byte crashes = 0, taken_back = 0;

#define FITS(b) (brick[b] == loose && !closed)

inline add(b) { atomic { if :: FITS(b) -> brick[b] = used; total = total + AMOUNT(b) :: else fi } }

proctype Adder() {
  byte b;
  short seen;
  bool won;
  for (b : 0 .. BRICKS - 1) {
#ifdef SPLIT
    atomic { won = FITS(b); if :: won -> brick[b] = used :: else fi }
    if :: won && crashes < 1 -> crashes++; goto killed
       :: won -> total = total + AMOUNT(b)
       :: !won fi
#else
#ifdef READ_MODIFY
    seen = total;
    atomic { if :: FITS(b) -> brick[b] = used; total = seen + AMOUNT(b) :: else fi }
#else
#ifdef NO_ROLLBACK
    atomic { if :: brick[b] == loose -> brick[b] = used; if :: !closed -> total = total + AMOUNT(b) :: else fi :: else fi }
#else
#ifdef BLIND_RETRY
    atomic { won = FITS(b); if :: won -> brick[b] = used; total = total + AMOUNT(b) :: else fi }
    if :: won -> total = total + AMOUNT(b)
       :: skip fi
#else
    add(b);
    if :: add(b)
       :: skip fi
#endif
#endif
#endif
#endif
  }
killed:
  skip
}

proctype Undoer() {
  byte b;
  do
  :: taken_back < 2 ->
       if :: b = 0 :: b = 1 fi;
       atomic { if :: brick[b] == used && !closed -> brick[b] = loose; total = total - AMOUNT(b) :: else fi }
       taken_back++
  :: taken_back == 2 -> break
  od
}

proctype Closer() { if :: closed = true :: skip fi }

init {
  atomic { brick[0] = loose; brick[1] = loose; run Adder(); run Adder(); run Undoer(); run Closer() }
  (_nr_pr == 1);
  assert(total == (brick[0] == used -> AMOUNT(0) : 0) + (brick[1] == used -> AMOUNT(1) : 0))
}
