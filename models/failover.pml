/* A fail-over to a replica that had not yet received the last commits rolls the run's row and its
   steps back to what they were at some instant.

   A holder does steps and ends the run; a taker may take it over.  Epochs are issued twice then,
   acquisitions are not.  The fence compares the epoch, the acquisition, and that the row's version
   is not less than it was after the holder's last write; a write of the holder's sets it to a
   stamp of his own, far above what others count up to who have his token ({onward}).

   An accepted write comes from the holder in the row, and who ends a run well has all its steps
   in the book.

   Variants:
     EPOCH_ONLY  the fence compares the epoch
     NO_SEEN     it compares epoch and acquisition
     NO_STAMP    a write of the holder's counts the version up by one, as others do */

#define STEPS 2
#define OTHERS 2                /* writes by a process that has the holder's token */
#define FAR 8

/* The row as it is, and as the replica has it. */
typedef Row { byte epoch; byte acquisition; byte version; byte steps; bool ended };
Row row, replica;
byte drawn = 1;                 /* acquisitions are never drawn twice, fail-over or not */
byte others = 0;

#ifdef EPOCH_ONLY
#define FENCE (row.epoch == e)
#else
#ifdef NO_SEEN
#define FENCE (row.epoch == e && row.acquisition == a)
#else
#define FENCE (row.epoch == e && row.acquisition == a && row.version >= seen)
#endif
#endif

inline onward() {
#ifdef NO_STAMP
  row.version++
#else
  stamp = seen + FAR;
  if :: row.version < stamp -> row.version = stamp :: else -> row.version++ fi
#endif
  ;
  seen = row.version
}

inline copy(from, to) {
  to.epoch = from.epoch; to.acquisition = from.acquisition; to.version = from.version;
  to.steps = from.steps; to.ended = from.ended
}

proctype Holder(bool first) {
  byte e, a, seen, stamp = 0, did = 0;
  bool lost = false;
  if
  :: atomic { first -> e = 1; a = 1; seen = 1 }
  :: atomic { !first && !row.ended ->   /* a take-over */
       drawn++; row.epoch++; row.acquisition = drawn; row.version++;
       e = row.epoch; a = drawn; seen = row.version; did = row.steps }
  :: else -> goto over
  fi;
  do
  :: atomic { did < STEPS && !lost ->
       if :: FENCE && !row.ended -> assert(row.acquisition == a); row.steps++; did++; onward()
          :: else -> lost = true fi }
  :: atomic { did == STEPS && !lost ->
       if :: FENCE && !row.ended -> assert(row.acquisition == a && row.steps == STEPS);
             row.ended = true; onward()
          :: else fi;
       break }
  :: lost -> break
  od;
over:
  skip
}

/* Has the token: its writes go by the fence of the first acquisition, and count up. */
proctype Other() {
end:
  do
  :: atomic { others < OTHERS && row.acquisition == 1 && !row.ended -> others++; row.version++ }
  od
}

proctype Replication() {
  if
  :: atomic { copy(row, replica) }
  :: skip
  fi;
  if
  :: atomic { copy(replica, row) }      /* the fail-over */
  :: skip
  fi
}

init {
  atomic {
    row.epoch = 1; row.acquisition = 1; row.version = 1;
    copy(row, replica);
    run Holder(true); run Holder(false); run Holder(false); run Other(); run Replication()
  }
}
