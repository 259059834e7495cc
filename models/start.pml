/* The reply to START is lost: does the process hold the run (sql/<dialect>/run.sql, run.start)?

   The process has seen the run free, at an epoch.  It sends "take it, if it is free and at that
   epoch" with a fresh acquisition, and hears nothing.  That statement may have been carried out,
   never will be, or is still on its way.  The holder row is alive and will be renewed, so an
   acquisition that the process does not know of would block the run for as long as it lives.

   Meanwhile another process may take the run, end it and leave it free again, which keeps the
   epoch; or a person may take it away (operate.release).

   The default settles it by a START that takes the run also where it has the first acquisition,
   which is its own and in doubt; the second attempt has that acquisition as well, the third one of
   its own.

   Variants:
     AGAIN      sends the very same statement until it is answered.  Where that takes nothing, the
                epoch has gone on, and no such statement will take anything any more: so it is
                enough then to read whether the acquisition in the row is its own
     REFUSED    the same, but a START that takes nothing means that another has the run
     READ       settles by reading alone
     NO_EPOCH   START compares only that the run is free, not the epoch
     BUSY       START is sent though the run was seen in another's hands */

#if defined(REFUSED) || defined(READ)
#define AGAIN
#endif

#define ATTEMPTS 3
#define NOBODY 0
#define ME 1
#define OTHER 2

/* The row of the run. */
byte holder = NOBODY, epoch = 0, acquisition = 0;

byte seen = 0;                  /* the epoch that START compares */
byte in_flight = 0;             /* attempts with a lost reply that may still land */
byte third = 0;                 /* the same of the third */
byte known = 0;                 /* the acquisition that the process knows to hold */
bool released = false;

#define MINE 1
#define THIRD 2

#ifdef NO_EPOCH
#define FREE (holder == NOBODY)
#else
#define FREE (holder == NOBODY && epoch == seen)
#endif
#ifndef AGAIN
#define TAKES(doubt) (FREE || (holder == ME && doubt && acquisition == MINE))
#else
#define TAKES(doubt) FREE
#endif

inline acquire(a) { holder = ME; epoch++; acquisition = a }

/* The first START has no doubt; which one lands makes no other difference. */
proctype Network() {
end:
  do
  :: atomic { in_flight > 0 -> in_flight--; if :: TAKES(false) -> acquire(MINE) :: else fi }
#ifndef AGAIN
  :: atomic { in_flight > 1 -> in_flight--; if :: TAKES(true) -> acquire(MINE) :: else fi }
  :: atomic { third > 0 -> third--; if :: TAKES(true) -> acquire(THIRD) :: else fi }
#endif
  :: atomic { in_flight > 0 -> in_flight-- }
  :: atomic { third > 0 -> third-- }
  od
}

proctype Other() {
  byte turn;
  for (turn : 1 .. 2) {
    if
    :: atomic { holder == NOBODY -> holder = OTHER; epoch++; acquisition = 10 + turn }
       atomic { holder == OTHER -> holder = NOBODY }
    :: skip
    fi
  }
}

proctype Person() {
  if :: atomic { holder == ME -> holder = NOBODY; released = true } :: skip fi
}

proctype Me() {
  byte sent = 0;
#ifdef BUSY
  atomic { seen = epoch }
#else
  atomic { holder == NOBODY -> seen = epoch }
#endif
again:
  sent++;
  if
  :: sent < ATTEMPTS -> in_flight++; goto again                         /* the reply is lost */
#ifdef READ
  :: atomic { sent > 1 -> if :: holder == ME -> known = acquisition :: else fi }
#else
#ifndef AGAIN
  :: atomic { if :: sent < 3 && TAKES(sent > 1) -> acquire(MINE); known = MINE
                 :: sent == 3 && TAKES(true) -> acquire(THIRD); known = THIRD
                 :: else fi }
#else
  :: atomic { if :: TAKES(false) -> acquire(MINE); known = MINE :: else fi }
#ifndef REFUSED
     atomic { if :: known == 0 && holder == ME && acquisition == MINE -> known = MINE :: else fi }
#endif
#endif
#endif
  fi;
  /* What it holds it works on and lets go; the fence tells if it was wrong. */
  if
  :: atomic { known != 0 ->
       assert(released || (holder == ME && acquisition == known));
       if :: holder == ME && acquisition == known -> holder = NOBODY :: else fi }
  :: known == 0
  fi
}

init {
  atomic { run Network(); run Other(); run Person(); run Me() }
  timeout;
  assert(in_flight == 0 && holder == NOBODY)    /* nothing is held that nobody knows of */
}
