/* Messages of a broker, each taken once: the lane of an intake, and who holds it.

   An atomic block is one committed transaction.  A process may stand still between any two of them
   for as long as it likes and then go on with what it had in hand, as after a SIGSTOP: that is what
   interleaving means here.  Another may take its run meanwhile (STEALS), or it dies and comes back
   (CRASHES).

   A log: the place of a partition is a row.  A page is one transaction: the fence (run.fence), the
   place moved from where it was read (intake.move), and the effect.  Its reply may be lost
   (LOSSES): then it has committed, or never will, or it is still on its way and has its rows
   locked.  The fence is advanced (run.advance), which waits for those locks, and the place is read
   anew.

   A queue (QUEUE): a message comes again until it is settled, to whoever asks.  Its id is written
   in the transaction of the effect (intake.remember), and it is settled after that.

   Variants, the default being the protocol:
     NO_FENCE      the page does not ask whether the run is held
     NO_CAS        the place is moved wherever it is
     READ          after a lost reply the place is read, and the fence stays as it is
     SPLIT         the place is moved in one transaction, the effect follows in another
     SETTLE_FIRST  the message is settled before its transaction
     IDS_APART     the id is written in a transaction after that of the effect */

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef STEALS
#define STEALS 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif

/* The database. */
byte next = 0;
byte effects[MESSAGES];
bool seen[MESSAGES];
byte owner = 0;          /* 0: nobody */
byte epoch = 0;

/* The broker. */
bool settled[MESSAGES];

/* A transaction whose reply was lost and that is still on its way. */
bool late = false;
byte late_from = 0;
byte late_to = 0;

byte crashes = CRASHES;
byte steals = STEALS;
byte losses = LOSSES;
byte ended = 0;

#ifdef NO_FENCE
#define HELD true
#else
#define HELD (owner == _pid && epoch == mine)
#endif
#ifdef NO_CAS
#define UNMOVED true
#else
#define UNMOVED (next == from)
#endif

inline apply(low, high) {
    i = low;
    do
    :: i < high -> effects[i]++; assert(effects[i] == 1); i++
    :: else -> break
    od;
    i = 0
}

/* A read sees no lock; whatever writes one of its rows waits for it. */
active proctype network() {
    byte i = 0;
end:
    do
    :: atomic { late -> if :: apply(late_from, late_to); next = late_to :: skip fi; late = false }
    od
}

active [2] proctype holder() {
    byte i = 0, from = 0, to = 0, mine = 0;
    bool known;
start:
    atomic {
        !late;
        if
        :: owner == 0 || owner == _pid
        :: owner != 0 && owner != _pid && steals > 0 -> steals--
        fi;
        owner = _pid; epoch++; mine = epoch
    }
again:
    skip;
#ifdef QUEUE
    /* Any message that is not settled, also one that another has. */
    d_step {
        from = 0;
        do
        :: from < MESSAGES && settled[from] -> from++
        :: else -> break
        od
    }
    if
    :: from == MESSAGES -> goto done
    :: from < MESSAGES
    :: from + 1 < MESSAGES && !settled[from + 1] -> from++
    fi;
#ifdef SETTLE_FIRST
    settled[from] = true;
#endif
    if :: atomic { crashes > 0 -> crashes--; from = 0; goto start } :: skip fi;
    atomic {
        !late;
        if
        :: !HELD -> goto lost
        :: else
        fi;
        known = seen[from];
        if
        :: !known -> apply(from, from + 1)
        :: else
        fi;
#ifndef IDS_APART
        seen[from] = true
#endif
    }
#ifdef IDS_APART
    if :: atomic { crashes > 0 -> crashes--; from = 0; goto start } :: skip fi;
    seen[from] = true;
#endif
    if :: atomic { crashes > 0 -> crashes--; from = 0; goto start } :: skip fi;
    settled[from] = true;
    goto again;
#else
    from = next;
    if
    :: from == MESSAGES -> goto done
    :: from < MESSAGES -> to = from + 1
    :: from + 1 < MESSAGES -> to = from + 2
    fi;
    if :: atomic { crashes > 0 -> crashes--; goto start } :: skip fi;
#ifdef SPLIT
    atomic {
        !late;
        if
        :: !HELD -> goto lost
        :: HELD && !UNMOVED -> goto again
        :: else -> next = to
        fi
    }
    if :: atomic { crashes > 0 -> crashes--; goto start } :: skip fi;
    atomic { apply(from, to) }
    goto again;
#else
    atomic {
        !late;
        if
        :: !HELD -> goto lost
        :: HELD && !UNMOVED -> goto again
        :: else
        fi;
        if
        :: apply(from, to); next = to; goto again
        :: losses > 0 -> losses--; apply(from, to); next = to
        :: losses > 0 -> losses--
        :: losses > 0 -> losses--; late = true; late_from = from; late_to = to
        fi
    }
#ifndef READ
    atomic {
        !late;
        if
        :: owner == _pid && epoch == mine -> epoch++; mine = epoch
        :: else -> goto lost
        fi
    }
#endif
    goto again;
#endif
#endif
lost:
    goto start;
done:
    atomic {
        if :: owner == _pid && epoch == mine -> owner = 0 :: else fi;
        ended++
    }
}

/* All that was there has its effect, and exactly one. */
active proctype judge() {
    byte i = 0;
    atomic {
        ended == 2 && !late;
        do
        :: i < MESSAGES -> assert(effects[i] == 1); i++
        :: else -> break
        od
    }
}
