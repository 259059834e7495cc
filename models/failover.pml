/* A failover to a replica that had not yet received the last commits rolls the run row
   back.  A acquired the run before; B takes it over, the failover may forget that, and C
   acquires it on the new primary: C gets the epoch that B still believes to own.

   Default: the fence compares the epoch and the acquisition, fresh each time.
   Variant EPOCH_ONLY: the fence compares the epoch. */

/* The row as it is, and as the replica has it. */
byte epoch = 1, acquisition = 1;
byte drawn = 1;                 /* acquisitions are never drawn twice, failover or not */

#ifdef EPOCH_ONLY
#define FENCE (epoch == e)
#else
#define FENCE (epoch == e && acquisition == a)
#endif

proctype Taker() {
  byte e, a;
  atomic { drawn++; epoch++; acquisition = drawn; e = epoch; a = acquisition }
  atomic {
    if
    :: FENCE -> assert(acquisition == a)        /* an accepted write comes from the holder in the row */
    :: else
    fi
  }
}

proctype Failover() {
  if
  :: atomic { epoch = 1; acquisition = 1 }
  :: skip
  fi
}

init { atomic { run Taker(); run Taker(); run Failover() } }
