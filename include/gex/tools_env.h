/** @file
 * The environment, and numbers as people write them. Part of gasnet_tools.h.
 *
 * The environment is that of this rank. A variable that is set to nothing but blanks counts as
 * unset. A value that cannot be understood ends the job with one line naming the variable, the
 * value and what was expected. With GASNET_VERBOSEENV=1, rank 0 prints each variable once, on
 * standard error, with its value and whether that is the default.
 */
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

/** @name Read the environment
 * Return a variable of the environment of this rank, as text, a number or a choice.
 *
 * A value that cannot be understood ends the job with one line. Without one the result is the
 * default.
 *
 * @param key                  The variable's name.
 * @param default_value        The result if the variable is not set, or blank.
 * @param mem_size_multiplier  As for gasnett_parse_int.
 * @return The value. Text is the environment's: not to be written to or freed.
 * @par Context
 * Any thread, as long as none changes the environment meanwhile; not in handlers.
 * @par Example
 * @code
 * int64_t bytes = gasnett_getenv_int_withdefault("MY_BUFFER", 1 << 20, 1);  // MY_BUFFER=2.5M
 * @endcode
 * @par Specification
 * GASNet tools, "Environment utilities".
 * @see gasnett_parse_int, gasnett_envint_display, gasnet_getenv
 */
/**@{*/
/** The value as it is, or NULL; never reported under GASNET_VERBOSEENV. */
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

/**@}*/

/** @name Change the environment
 * Set or remove a variable of this process only.
 *
 * @param key    The variable's name.
 * @param value  Its new value, which is copied.
 * @par Context
 * Any thread, as long as no other uses the environment meanwhile; not in handlers.
 * @par Example
 * @code
 * gasnett_setenv("OMP_NUM_THREADS", "4");
 * @endcode
 * @par Specification
 * GASNet tools, "Environment utilities".
 */
/**@{*/
GEX_EXPORT_ void gasnett_setenv(const char* key, const char* value);
GEX_EXPORT_ void gasnett_unsetenv(const char* key);

/**@}*/

/** @name Report settings
 * Print settings that were obtained elsewhere, once for each key, as variables of the environment
 * are printed with GASNET_VERBOSEENV=1.
 *
 * @param key          The setting's name.
 * @param value        Its value.
 * @param is_default   Non-zero: nothing was set.
 * @param is_mem_size  Non-zero: print the value as a memory size (gasnett_format_number).
 * @return verboseenv: non-zero if this process reports.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * gasnett_envint_display("MY_BUFFER", (int64_t)bytes, 0, 1);
 * @endcode
 * @par Specification
 * GASNet tools, "Environment utilities".
 */
/**@{*/
/** Whether this process reports variables: GASNET_VERBOSEENV is set and this is rank 0, or the rank
 * is not known yet. */
GEX_EXPORT_ int gasnett_verboseenv(void);
GEX_EXPORT_ void gasnett_envstr_display(const char* key, const char* value, int is_default);
GEX_EXPORT_ void gasnett_envint_display(const char* key, int64_t value, int is_default,
                                        int is_mem_size);
GEX_EXPORT_ void gasnett_envdbl_display(const char* key, double value, int is_default);

/**@}*/

/** Writes a number, or a memory size, as people write it.
 *
 * @param value        The number.
 * @param buf          Receives the text.
 * @param size         Bytes of `buf`; 32 are always enough, less room truncates.
 * @param is_mem_size  Non-zero: the largest of B, KB, MB, GB and TB (powers of 1024) that shows the
 *                     size exactly with at most two decimals, so that gasnett_parse_int gives it
 *                     back.
 * @return `buf`.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * char text[32];
 * puts(gasnett_format_number(3 << 20, text, sizeof text, 1));  // 3 MB
 * @endcode
 * @par Specification
 * GASNet tools, "Environment utilities".
 * @see gasnett_parse_int
 */
GEX_EXPORT_ char* gasnett_format_number(int64_t value, char* buf, size_t size, int is_mem_size);

/** Reads a number, or a memory size, as people write it.
 *
 * @param text                 With `mem_size_multiplier` 0 a whole number with optional sign,
 *                             decimal or 0x hexadecimal. Else a memory size: a decimal number,
 *                             perhaps with a fraction, and B, K, M, G or T, KB or KiB and so on
 *                             (powers of 1024).
 * @param mem_size_multiplier  0, or the bytes that a number without a unit counts.
 * @return The number, or the bytes. Text that is neither, or a number that does not fit, ends the
 *         job with one line.
 * @par Context
 * Any thread; not in handlers.
 * @par Example
 * @code
 * int64_t half_a_gigabyte = gasnett_parse_int("0.5G", 1);
 * @endcode
 * @par Specification
 * GASNet tools, "Environment utilities".
 * @see gasnett_format_number, gasnett_getenv_int_withdefault
 */
GEX_EXPORT_ int64_t gasnett_parse_int(const char* text, uint64_t mem_size_multiplier);

#if defined(__cplusplus)
}
#endif
#endif
