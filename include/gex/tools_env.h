/* The environment, and numbers as people write them. Part of gasnet_tools.h.
 *
 * The environment is that of this rank. A variable that is set to nothing but blanks counts as
 * unset. A value that cannot be understood ends the job with one line naming the variable, the
 * value and what was expected. With GASNET_VERBOSEENV=1, rank 0 prints each variable once, on
 * standard error, with its value and whether that is the default.
 *
 * From any thread, as long as none changes the environment meanwhile. Not in AM handlers. */
#ifndef GEX_TOOLS_ENV_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_ENV_H_

#include <gex/platform.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** The value as it is, or NULL; never reported. Not to be written to or freed. */
GEX_EXPORT_ char* gasnett_getenv(const char* key);
/** The value, or `default_value`, which may be NULL. */
GEX_EXPORT_ char* gasnett_getenv_withdefault(const char* key, const char* default_value);
/** 1 for 1, y, yes, on and true, 0 for 0, n, no, off and false, in any case. */
GEX_EXPORT_ int gasnett_getenv_yesno_withdefault(const char* key, int default_value);
/** A number as gasnett_parse_int reads it. */
GEX_EXPORT_ int64_t gasnett_getenv_int_withdefault(const char* key, int64_t default_value,
                                                   uint64_t mem_size_multiplier);
/** A decimal number, "1.5" or "-1e4", or a fraction of two, "3/8". */
GEX_EXPORT_ double gasnett_getenv_dbl_withdefault(const char* key, double default_value);

/** Sets or removes a variable of this process only. */
GEX_EXPORT_ void gasnett_setenv(const char* key, const char* value);
GEX_EXPORT_ void gasnett_unsetenv(const char* key);

/** Whether this process reports variables: GASNET_VERBOSEENV is set and this is rank 0, or the rank
 * is not known yet. */
GEX_EXPORT_ int gasnett_verboseenv(void);
/** Report a setting that was obtained elsewhere, if gasnett_verboseenv(), once for each key. */
GEX_EXPORT_ void gasnett_envstr_display(const char* key, const char* value, int is_default);
GEX_EXPORT_ void gasnett_envint_display(const char* key, int64_t value, int is_default,
                                        int is_mem_size);
GEX_EXPORT_ void gasnett_envdbl_display(const char* key, double value, int is_default);

/** Writes `value` into buf[0, size) and returns buf. A memory size is given in the largest of B,
 * KB, MB, GB and TB (powers of 1024) that shows it exactly with at most two decimals, so that
 * gasnett_parse_int gives it back. 32 bytes are always enough; less room truncates. */
GEX_EXPORT_ char* gasnett_format_number(int64_t value, char* buf, size_t size, int is_mem_size);

/** With `mem_size_multiplier` 0 a whole number with optional sign, decimal or 0x hexadecimal. Else
 * a memory size in bytes: a decimal number, perhaps with a fraction, and B, K, M, G or T, KB or KiB
 * and so on (powers of 1024); without a unit it counts `mem_size_multiplier` bytes each. Text that
 * is neither, or a number that does not fit, ends the job with one line. */
GEX_EXPORT_ int64_t gasnett_parse_int(const char* text, uint64_t mem_size_multiplier);

#if defined(__cplusplus)
}
#endif
#endif
