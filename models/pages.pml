/* A sweep cuts a table into pages that stay as they were cut, and workers do the pages.  Rows are in the order of
   their keys, and are committed in any order, or never.

   A pass reads in one transaction and writes in the next, which is fenced: it holds only while the pass's run is its
   own.  A pass may be killed between the two, or stand still there while another takes its run over, and go on as a
   zombie.  Workers take pages in any order, several at once; one that dies with a page in hand leaves it to another.

   When all pages are done, the range of each page that was cut in order is compared with what was ever seen in it,
   and what comes after the last is cut; that is repeated until nothing is found, and then one task more is launched.

   Variant NO_FENCE: what a zombie has read is written, whoever holds the run.
   Variant NO_CLOSING: no comparison; the sweep is over when all pages are done.
   Variant SPLIT: a page and the place where it ends are written in two transactions.
   Variant ALONE: a comparison looks at the keys of the page alone, not at those found in its range since.
   Variant BARRIER_COUNTS: the last worker to finish a page launches the last task, for it counts none that is left.
   Variant NO_CLAIM: a worker's page is marked done whether it is still in its hands or not. */

#ifndef ROWS
#define ROWS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define SIZE 2                       /* rows of a page */
#define PAGES 4
#define NOBODY 0

mtype = { cutting, working, closing, over };
mtype phase = cutting;
byte there;                          /* rows, as bits */
byte owed;                           /* those that were there when the last comparison began */
byte place, pages, compared, holder, crashes, ends;
bool found;                          /* by this comparison */
byte low[PAGES], high[PAGES], seen[PAGES], base[PAGES];
bool done[PAGES];
byte hand[PAGES];                    /* whose claim has it */
byte effects[ROWS];

/* Rows come and go in one step each; one that does not come was rolled back. */
proctype Writer(byte row) {
  if
  :: atomic { there = there | (1 << row) }
  :: true
  fi
}

inline add(whose, from, to, keys) {
  assert(pages < PAGES);
  base[pages] = whose; low[pages] = from; high[pages] = to; seen[pages] = keys;
  pages++
}

/* The rows after `place`, a page of them. */
inline read_on() {
  got = 0; n = 0; last = place; r = place;
  do
  :: r < ROWS && n < SIZE ->
       if :: there & (1 << r) -> got = got | (1 << r); n++; last = r + 1 :: else fi;
       r++
  :: else -> break
  od;
  r = 0
}

inline count_open() {
  n = 0; r = 0;
  do :: r < pages -> if :: !done[r] -> n++ :: else fi; r++ :: else -> break od;
  r = 0
}

inline forget() { got = 0; n = 0; last = 0; b = 0; at = 0 }

#ifdef BARRIER_COUNTS
#define END skip
#else
#define END ends++
#endif

#ifdef NO_FENCE
#define MINE true
#else
#define MINE (holder == me)
#endif

/* Its run may be taken over whenever it stands still, which costs a crash: so often do the others lose patience. */
proctype Pass(byte me) {
  byte r, got, n, last, b, known;
  mtype at;
take:
  if
  :: atomic { phase != over && holder == NOBODY -> holder = me }
  :: atomic { phase != over && holder != NOBODY && holder != me && crashes < CRASHES -> crashes++; holder = me }
  :: phase == over -> goto quit
  fi;
  do
  :: atomic { phase == over -> break }
  :: atomic { phase == cutting -> at = cutting; read_on() }
     atomic {
       if
       :: !MINE -> forget(); goto quit
       :: MINE ->
            if :: n > 0 -> add(pages, place, last, got) :: else fi;
#ifdef SPLIT
       fi }
     if :: crashes < CRASHES -> atomic { crashes++; holder = NOBODY; forget(); goto take } :: true fi;
     atomic {
       if
       :: !MINE -> forget(); goto quit
       :: MINE ->
#endif
            place = last;
            if :: n < SIZE -> phase = working :: else fi;
            forget()
       fi
     }
  :: atomic { phase == working -> at = working; count_open() }
     atomic {
       if
       :: !MINE -> forget(); goto quit
       :: MINE && n > 0 -> forget()
       :: MINE && n == 0 ->
            owed = there;
#ifdef NO_CLOSING
            phase = over; END;
#else
            phase = closing; compared = 0; found = false;
#endif
            forget()
       fi
     }
  :: atomic {
       phase == closing -> at = closing;
       /* the next page that was cut in order, or what is after the last */
       b = compared;
       do :: b < pages && base[b] != b -> b++ :: else -> break od;
       if
       :: b < pages ->
            known = 0; r = 0;
            do
            :: r < pages ->
#ifdef ALONE
                 if :: r == b -> known = known | seen[r] :: else fi;
#else
                 if :: base[r] == b -> known = known | seen[r] :: else fi;
#endif
                 r++
            :: else -> break
            od;
            got = 0; r = low[b];
            do
            :: r < high[b] -> got = got | ((there & (1 << r)) & ~known); r++
            :: else -> break
            od;
            known = 0; r = 0; last = pages
       :: else -> read_on(); b = PAGES
       fi
     }
     atomic {
       if
       :: !MINE -> forget(); goto quit
       :: MINE && b < PAGES ->
            if :: got -> add(b, low[b], high[b], got); found = true :: else fi;
            compared = b + 1; forget()
       :: MINE && b == PAGES ->
            if :: n > 0 -> add(pages, place, last, got); place = last; found = true :: else fi;
            compared = pages;
            if
            :: n == SIZE
            :: n < SIZE && found -> phase = working
            :: n < SIZE && !found -> phase = over; END
            fi;
            forget()
       fi
     }
  od;
quit:
  skip
}

inline all_launched_done() {
  n = 0; r = 0;
  do :: r < pages -> if :: !done[r] -> n++ :: else fi; r++ :: else -> break od;
  r = 0
}

#define IS_FREE(which) (which < pages && !done[which] && hand[which] == NOBODY)

/* Its effect and the mark of the page are one transaction, in which the page must be in its hands. */
proctype Worker(byte me) {
  byte p, r, n;
  bool mine;
end:
  do
  :: atomic {
       IS_FREE(0) || IS_FREE(1) || IS_FREE(2) || IS_FREE(3) ->
         p = 0;
         do :: !IS_FREE(p) -> p++ :: else -> break od;
         hand[p] = me
     }
     if
     :: crashes < CRASHES -> atomic { crashes++; hand[p] = NOBODY }    /* taken for dead, it goes on */
     :: true
     fi;
     atomic {
#ifndef NO_CLAIM
       if
       :: hand[p] != me || done[p] -> skip
       :: else ->
#else
       if
       :: true ->
#endif
            done[p] = true; hand[p] = NOBODY;
            r = 0;
            do
            :: r < ROWS -> if :: seen[p] & there & (1 << r) -> effects[r]++ :: else fi; r++
            :: else -> break
            od;
            r = 0;
#ifdef BARRIER_COUNTS
            all_launched_done();
            if :: n == 0 -> ends++ :: else fi;
#endif
            n = 0
       fi;
       p = 0
     }
  :: phase == over -> break
  od
}

active proctype Judge() {
  byte r;
  phase == over;
  atomic {
    assert(ends == 1);
    do
    :: r < ROWS ->
         assert(effects[r] <= 1);
         assert(!(owed & (1 << r)) || effects[r] == 1);
         r++
    :: else -> break
    od
  }
}

init {
  byte i;
  atomic {
    do :: i < ROWS -> run Writer(i); i++ :: else -> break od;
    run Pass(1); run Pass(2); run Worker(1); run Worker(2)
  }
}
