/* The reply to the COMMIT of a step is lost: did it commit?

   The old transaction (effect, record and fence) may have committed, may never commit,
   or may still be on its way; it can land only while its fence still fits.

   The default settles it with a new transaction that advances the fence and reads the
   step in it: 0 rows, the run was lost to another; step done, it had committed; step not
   done, it never will, so the whole step runs again under the new acquisition.  The reply
   to this COMMIT may be lost too; it is then repeated with all acquisitions in doubt
   accepted.  A successor may take the run over at any time and do what is not done.

   Variants:
     READ        settle by reading the step, and act on that
     REPORT      settle by reading the step, and only report it
     RERUN       run the whole guarded transaction again, until it is answered: its fence comes
                 first, which waits for the old one; then it looks for the step, which may be there
                 though the run was lost since.  The fence does not advance
     BLIND       the same, without the look
     ONLY_FIRST  a repeated settlement accepts only the acquisition that the step had
     ONLY_LAST   a repeated settlement accepts only the acquisition of the one before */

#define SETTLEMENTS 3           /* at most two with lost replies, then one that is answered */
#define SUCCESSOR 9

byte acquisition = 1;           /* the fence; settlement n asks for the acquisition n + 1 */
byte step = 0;
byte effects = 0;
bool settling[SETTLEMENTS + 1]; /* settlements with a lost reply that may still land */
bool old = true;                /* the old transaction may still land */
bool taken = false;
bool mine = false;              /* the step was recorded by the holder */
byte reruns = 0;                 /* transactions that were run again, and may still land */

#ifdef BLIND
#define RERUN
#define TO_DO true
#else
#define TO_DO (step == 0)
#endif

#ifdef ONLY_FIRST
#define ACCEPTED(n) (acquisition == 1)
#else
#ifdef ONLY_LAST
#define ACCEPTED(n) (acquisition == n)
#else
#define ACCEPTED(n) (acquisition <= n)
#endif
#endif

inline do_step() { effects++; step = 1; mine = (acquisition != SUCCESSOR) }


proctype Network() {
end:
  do
  :: atomic { old -> old = false; if :: acquisition == 1 && step == 0 -> do_step() :: else fi }
  :: atomic { reruns > 0 -> reruns--; if :: acquisition == 1 && TO_DO -> do_step() :: else fi }
  :: atomic { reruns > 0 -> reruns-- }
  :: atomic { old -> old = false }
  :: atomic { settling[1] -> settling[1] = false; if :: ACCEPTED(1) -> acquisition = 2 :: else fi }
  :: atomic { settling[2] -> settling[2] = false; if :: ACCEPTED(2) -> acquisition = 3 :: else fi }
  :: atomic { settling[1] -> settling[1] = false }
  :: atomic { settling[2] -> settling[2] = false }
  od
}

proctype Successor() {
  if
  :: atomic { acquisition = SUCCESSOR; taken = true }
     atomic { if :: step == 0 -> do_step() :: else fi }
  :: skip
  fi
}

proctype Holder() {
  byte n = 0;
  bool did = false, lost = false;
#if defined(READ) || defined(REPORT)
  did = (step == 1);
#ifdef READ
  atomic { if :: !did && acquisition == 1 -> do_step() :: else fi }
#endif
#else
#ifdef RERUN
again_run:
  n++;
  if
  :: n < SETTLEMENTS -> reruns++; goto again_run                 /* reply lost */
  :: atomic {                                                   /* reply heard */
       if
       :: acquisition == 1 && TO_DO -> do_step(); did = true
       :: else -> did = (step == 1 && mine); lost = !did
       fi
     }
  fi;
  atomic { assert(!lost || taken); assert(!did || mine) }
#else
again:
  n++;
  if
  :: n < SETTLEMENTS -> settling[n] = true; goto again          /* reply lost */
  :: atomic {                                                   /* reply heard */
       if
       :: ACCEPTED(n) -> acquisition = n + 1; did = (step == 1)
       :: else -> lost = true
       fi
     }
  fi;
  if
  :: !lost && !did -> atomic { if :: acquisition == n + 1 -> do_step() :: else fi }
  :: else
  fi;
  atomic { assert(!lost || taken) }                             /* lost is said only of what is lost */
#endif
#endif
#ifdef REPORT
  (!old);
  assert(did || taken || step == 0)                             /* what was called undone stays undone */
#endif
}

init {
  atomic { run Network(); run Successor(); run Holder() }
  (_nr_pr == 2 && !old && reruns == 0 && !settling[1] && !settling[2]);
#ifndef REPORT
  assert(effects == 1 && step == 1)
#endif
}
