// All of Daybook but its help for tests (daybook/testing.hpp).
#pragma once

#include <daybook/adopt.hpp>
#include <daybook/aggregation.hpp>
#include <daybook/book.hpp>
#include <daybook/cron.hpp>
#include <daybook/error.hpp>
#include <daybook/hand_out.hpp>
#include <daybook/inspect.hpp>
#include <daybook/job.hpp>
#include <daybook/names.hpp>
#include <daybook/node.hpp>
#include <daybook/observer.hpp>
#include <daybook/operate.hpp>
#include <daybook/outcome.hpp>
#include <daybook/pending.hpp>
#include <daybook/run.hpp>
#include <daybook/schedule.hpp>
#include <daybook/sql.hpp>
#include <daybook/step.hpp>
#include <daybook/tick.hpp>
#include <daybook/time.hpp>
#include <daybook/transaction.hpp>
#include <daybook/version.hpp>
#include <daybook/watch.hpp>
#include <daybook/zone.hpp>
