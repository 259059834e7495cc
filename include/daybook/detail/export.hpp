// Which symbols the shared library shows. The rest is hidden: SOVERSION promises only these.
#pragma once

#if defined(__GNUC__)
#define DAYBOOK_EXPORT [[gnu::visibility("default")]]
#else
#define DAYBOOK_EXPORT
#endif
