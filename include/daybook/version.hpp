// The version, in this one place: the build, the command and the changelog test read it from here.
#pragma once

#define DAYBOOK_VERSION_MAJOR 0
#define DAYBOOK_VERSION_MINOR 1
#define DAYBOOK_VERSION_PATCH 0
#define DAYBOOK_VERSION "0.1.0"
