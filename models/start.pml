/* The reply to START is lost: does the process hold the run?

   The process sent "take the run if it is free" with the fresh acquisition FIRST and
   heard nothing.  That transaction may have committed, may never commit, or may still
   be on its way.  Its holder row is alive and will be renewed, so an acquisition that
   it does not know of would block the run for as long as the process lives.

   Meanwhile another process may take the run, finish it and leave it free again.

   The default settles it by running START again with a new acquisition, taking the run
   also where it finds an acquisition of its own that is in doubt.  That reply may be
   lost as well; the next attempt then accepts both.

   Variants:
     READ       settle by reading: not mine in the row, so it was not taken
     STRANGER   run START again, but take only a free run
     ONLY_LAST  accept only the acquisition of the attempt before
     NO_EPOCH   START compares only that the run is free, not the epoch that it read, and
                the server may run it arbitrarily late.  (A transaction whose UPDATE has run
                needs no such comparison: row lock or certification do the same.)
     KEEP_EPOCH letting go of the run leaves its epoch: a START that was sent while the run
                was busy, and answered by nobody, takes it when it is free again */

#define ATTEMPTS 3      /* FIRST and at most two more with lost replies */
#define NOBODY 0
#define ME 1
#define OTHER 2

/* The row of the run. */
byte holder = NOBODY, epoch = 0, acquisition = 0;
byte fresh = 10;                /* acquisitions of the other process */

bool in_flight[ATTEMPTS + 1];   /* attempts with a lost reply that may still land */
byte read_epoch[ATTEMPTS + 1];  /* the epoch that each compares */
byte known = 0;                 /* the acquisition that the process knows to hold */
byte working = 0;

#ifdef NO_EPOCH
#define SAME(n) true
#else
#define SAME(n) (epoch == read_epoch[n])
#endif

#ifdef STRANGER
#define MINE(n) false
#else
#ifdef ONLY_LAST
#define MINE(n) (acquisition == n - 1)
#else
#define MINE(n) (acquisition > 0 && acquisition < n)
#endif
#endif

/* Attempt n has the acquisition n. */
#define TAKES(n) (holder == NOBODY || (holder == ME && MINE(n)))

inline acquire(n) { holder = ME; epoch++; acquisition = n }

#ifdef KEEP_EPOCH
inline let_go() { holder = NOBODY; acquisition = 0 }
#else
inline let_go() { holder = NOBODY; acquisition = 0; epoch++ }
#endif

/* The old attempts, each landing at any time or never. */
proctype Network() {
end:
  do
  :: atomic { in_flight[1] -> in_flight[1] = false; if :: SAME(1) && TAKES(1) -> acquire(1) :: else fi }
  :: atomic { in_flight[2] -> in_flight[2] = false; if :: SAME(2) && TAKES(2) -> acquire(2) :: else fi }
  :: atomic { in_flight[1] -> in_flight[1] = false }
  :: atomic { in_flight[2] -> in_flight[2] = false }
  od
}

proctype Other() {
  byte turn;
  for (turn : 1 .. 2) {
    if
    :: atomic { holder == NOBODY -> holder = OTHER; epoch++; acquisition = fresh; fresh++ }
       atomic { holder == OTHER -> let_go() }
    :: skip
    fi
  }
}

proctype Me() {
  byte n = 1;
  atomic { in_flight[1] = true; read_epoch[1] = epoch }
#ifdef READ
  atomic { if :: holder == ME -> known = acquisition :: else fi }
#else
again:
  n++;
  if
  :: n < ATTEMPTS -> atomic { in_flight[n] = true; read_epoch[n] = epoch } goto again      /* lost too */
  :: atomic { if :: TAKES(n) -> acquire(n); known = n :: else fi }                         /* answered */
  fi;
#endif
  /* What it holds it works on and lets go; the fence tells if it was wrong. */
  if
  :: atomic { known != 0 -> assert(holder == ME && acquisition == known); let_go() }
  :: known == 0
  fi
}

init {
  atomic { run Network(); run Other(); run Me() }
  (_nr_pr == 2 && !in_flight[1] && !in_flight[2]);      /* only the network is left, and idle */
  assert(holder == NOBODY)                              /* nothing is held that nobody knows of */
}
