/** @file
 * Names for the compiler, the operating system and the processor that a source is compiled for.
 *
 * Open MPI's mpi.h defines some of these names as well, and takes Clang for GNU. This header may
 * stand before or after it: what it finds is replaced, and mpi.h leaves alone what it finds.
 *
 * Preprocessor only, usable from any language the C preprocessor serves.
 */
#ifndef _INCLUDED_GASNET_PORTABLE_PLATFORM_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_PORTABLE_PLATFORM_H

#undef PLATFORM_COMPILER_GNU
#undef PLATFORM_COMPILER_GNU_C
#undef PLATFORM_COMPILER_GNU_CXX
#undef PLATFORM_COMPILER_CLANG
#undef PLATFORM_COMPILER_CLANG_C
#undef PLATFORM_COMPILER_CLANG_CXX
#undef PLATFORM_COMPILER_INTEL
#undef PLATFORM_COMPILER_INTEL_C
#undef PLATFORM_COMPILER_INTEL_CXX
#undef PLATFORM_COMPILER_PGI
#undef PLATFORM_COMPILER_PGI_C
#undef PLATFORM_COMPILER_PGI_CXX
#undef PLATFORM_COMPILER_CRAY
#undef PLATFORM_COMPILER_CRAY_C
#undef PLATFORM_COMPILER_CRAY_CXX
#undef PLATFORM_COMPILER_UNKNOWN
#undef PLATFORM_COMPILER_FAMILYID
#undef PLATFORM_COMPILER_FAMILYNAME
#undef PLATFORM_COMPILER_VERSION
#undef PLATFORM_COMPILER_VERSION_INT
#undef PLATFORM_COMPILER_VERSION_STR
#undef PLATFORM_COMPILER_ID
#undef PLATFORM_COMPILER_IDSTR
#undef PLATFORM_COMPILER_C_LANGLVL
#undef PLATFORM_COMPILER_CXX_LANGLVL

/** @name The platform
 * Names for the compiler, the operating system and the processor, which `#if` can test.
 *
 * A family that is not this one's is simply undefined.
 * - PLATFORM_COMPILER_GNU, _CLANG, _INTEL, _PGI, _CRAY or _UNKNOWN is 1: the compiler's family.
 *   With _C or _CXX appended, the family for that language. PLATFORM_COMPILER_FAMILYNAME is the
 *   family as a bare token, PLATFORM_COMPILER_FAMILYID as a number.
 * - PLATFORM_COMPILER_VERSION is a number that compares; PLATFORM_COMPILER_VERSION_INT(maj, min,
 *   pat) makes one, and PLATFORM_COMPILER_VERSION_GE, GT, LE, LT and EQ compare with the
 *   compiler's. PLATFORM_COMPILER_VERSION_STR is text, "12.2.0".
 * - PLATFORM_COMPILER_C_LANGLVL or PLATFORM_COMPILER_CXX_LANGLVL is the language: __STDC_VERSION__
 *   or __cplusplus. PLATFORM_COMPILER_ID and PLATFORM_COMPILER_IDSTR are all of that as text.
 * - PLATFORM_OS_LINUX or _UNKNOWN is 1; PLATFORM_OS_FAMILYNAME is the token.
 * - PLATFORM_ARCH_X86_64, _X86, _AARCH64, _ARM, _POWERPC, _RISCV, _S390, _MIPS, _LOONGARCH or
 *   _UNKNOWN is 1; PLATFORM_ARCH_FAMILYNAME is the token; PLATFORM_ARCH_32 or _64 and
 *   PLATFORM_ARCH_LITTLE_ENDIAN or _BIG_ENDIAN are 1.
 *
 * @param maj  Major version.
 * @param min  Minor version.
 * @param pat  Patch level.
 * @par Example
 * @code
 * #if PLATFORM_COMPILER_GNU && PLATFORM_COMPILER_VERSION_GE(12, 0, 0) && PLATFORM_ARCH_64
 * @endcode
 */
/**@{*/
/* Two levels, so that an argument that is a macro is expanded first. */
#define GEX_PLATFORM_STRING_TEXT_(x) #x
#define GEX_PLATFORM_STRING_(x) GEX_PLATFORM_STRING_TEXT_(x)
#define GEX_PLATFORM_DOTTED_(major, minor, patch) \
  GEX_PLATFORM_STRING_(major) "." GEX_PLATFORM_STRING_(minor) "." GEX_PLATFORM_STRING_(patch)

/* One line, spelled as mpi.h spells it: a definition repeated token by token is legal. */
#define PLATFORM_COMPILER_VERSION_INT(maj, min, pat) (((maj) << 16) | ((min) << 8) | (pat))

#if defined(__INTEL_LLVM_COMPILER)
#define PLATFORM_COMPILER_INTEL 1
#define PLATFORM_COMPILER_FAMILYNAME INTEL
#define PLATFORM_COMPILER_FAMILYID 2
#define PLATFORM_COMPILER_VERSION                                                                 \
  PLATFORM_COMPILER_VERSION_INT(__INTEL_LLVM_COMPILER / 10000, __INTEL_LLVM_COMPILER / 100 % 100, \
                                __INTEL_LLVM_COMPILER % 100)
#define PLATFORM_COMPILER_VERSION_STR GEX_PLATFORM_STRING_(__INTEL_LLVM_COMPILER)
#elif defined(__NVCOMPILER) || defined(__PGI)
#define PLATFORM_COMPILER_PGI 1
#define PLATFORM_COMPILER_FAMILYNAME PGI
#define PLATFORM_COMPILER_FAMILYID 4
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__PGIC__, __PGIC_MINOR__, __PGIC_PATCHLEVEL__)
#define PLATFORM_COMPILER_VERSION_STR \
  GEX_PLATFORM_DOTTED_(__PGIC__, __PGIC_MINOR__, __PGIC_PATCHLEVEL__)
#elif defined(_CRAYC) || defined(__cray__)
#define PLATFORM_COMPILER_CRAY 1
#define PLATFORM_COMPILER_FAMILYNAME CRAY
#define PLATFORM_COMPILER_FAMILYID 5
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__cray_major__, __cray_minor__, __cray_patchlevel__)
#define PLATFORM_COMPILER_VERSION_STR \
  GEX_PLATFORM_DOTTED_(__cray_major__, __cray_minor__, __cray_patchlevel__)
#elif defined(__clang__)
#define PLATFORM_COMPILER_CLANG 1
#define PLATFORM_COMPILER_FAMILYNAME CLANG
#define PLATFORM_COMPILER_FAMILYID 3
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__clang_major__, __clang_minor__, __clang_patchlevel__)
#define PLATFORM_COMPILER_VERSION_STR \
  GEX_PLATFORM_DOTTED_(__clang_major__, __clang_minor__, __clang_patchlevel__)
#elif defined(__GNUC__)
#define PLATFORM_COMPILER_GNU 1
#define PLATFORM_COMPILER_FAMILYNAME GNU
#define PLATFORM_COMPILER_FAMILYID 1
#define PLATFORM_COMPILER_VERSION \
  PLATFORM_COMPILER_VERSION_INT(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
#define PLATFORM_COMPILER_VERSION_STR \
  GEX_PLATFORM_DOTTED_(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
#else
#define PLATFORM_COMPILER_UNKNOWN 1
#define PLATFORM_COMPILER_FAMILYNAME UNKNOWN
#define PLATFORM_COMPILER_FAMILYID 0
#define PLATFORM_COMPILER_VERSION 0
#define PLATFORM_COMPILER_VERSION_STR "0.0.0"
#endif

#if defined(__cplusplus)
#if defined(PLATFORM_COMPILER_GNU)
#define PLATFORM_COMPILER_GNU_CXX 1
#elif defined(PLATFORM_COMPILER_CLANG)
#define PLATFORM_COMPILER_CLANG_CXX 1
#elif defined(PLATFORM_COMPILER_INTEL)
#define PLATFORM_COMPILER_INTEL_CXX 1
#elif defined(PLATFORM_COMPILER_PGI)
#define PLATFORM_COMPILER_PGI_CXX 1
#elif defined(PLATFORM_COMPILER_CRAY)
#define PLATFORM_COMPILER_CRAY_CXX 1
#endif
#define PLATFORM_COMPILER_CXX_LANGLVL __cplusplus
#define GEX_PLATFORM_LANGUAGE_ "__cplusplus=" GEX_PLATFORM_STRING_(__cplusplus)
#else
#if defined(PLATFORM_COMPILER_GNU)
#define PLATFORM_COMPILER_GNU_C 1
#elif defined(PLATFORM_COMPILER_CLANG)
#define PLATFORM_COMPILER_CLANG_C 1
#elif defined(PLATFORM_COMPILER_INTEL)
#define PLATFORM_COMPILER_INTEL_C 1
#elif defined(PLATFORM_COMPILER_PGI)
#define PLATFORM_COMPILER_PGI_C 1
#elif defined(PLATFORM_COMPILER_CRAY)
#define PLATFORM_COMPILER_CRAY_C 1
#endif
#if defined(__STDC_VERSION__)
#define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#else
#define PLATFORM_COMPILER_C_LANGLVL 199000L
#endif
#define GEX_PLATFORM_LANGUAGE_ "__STDC_VERSION__=" GEX_PLATFORM_STRING_(PLATFORM_COMPILER_C_LANGLVL)
#endif

#undef PLATFORM_COMPILER_VERSION_GE
#undef PLATFORM_COMPILER_VERSION_GT
#undef PLATFORM_COMPILER_VERSION_LE
#undef PLATFORM_COMPILER_VERSION_LT
#undef PLATFORM_COMPILER_VERSION_EQ
#define PLATFORM_COMPILER_VERSION_GE(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_GT(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LE(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_LT(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(maj, min, pat))
#define PLATFORM_COMPILER_VERSION_EQ(maj, min, pat) \
  (PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(maj, min, pat))

#define PLATFORM_COMPILER_ID PLATFORM_COMPILER_FAMILYNAME PLATFORM_COMPILER_VERSION_STR
#define PLATFORM_COMPILER_IDSTR                                                                    \
  "|COMPILER_FAMILY:" GEX_PLATFORM_STRING_(                                                        \
      PLATFORM_COMPILER_FAMILYNAME) "|COMPILER_VERSION:" PLATFORM_COMPILER_VERSION_STR             \
                                    "|COMPILER_FAMILYID:" GEX_PLATFORM_STRING_(                    \
                                        PLATFORM_COMPILER_FAMILYID) "|STD:" GEX_PLATFORM_LANGUAGE_ \
                                                                    "|"

#undef PLATFORM_OS_LINUX
#undef PLATFORM_OS_UNKNOWN
#undef PLATFORM_OS_FAMILYNAME
#if defined(__linux__) || defined(__linux) || defined(linux)
#define PLATFORM_OS_LINUX 1
#define PLATFORM_OS_FAMILYNAME LINUX
#else
#define PLATFORM_OS_UNKNOWN 1
#define PLATFORM_OS_FAMILYNAME UNKNOWN
#endif

#undef PLATFORM_ARCH_X86_64
#undef PLATFORM_ARCH_X86
#undef PLATFORM_ARCH_AARCH64
#undef PLATFORM_ARCH_ARM
#undef PLATFORM_ARCH_POWERPC
#undef PLATFORM_ARCH_RISCV
#undef PLATFORM_ARCH_S390
#undef PLATFORM_ARCH_MIPS
#undef PLATFORM_ARCH_LOONGARCH
#undef PLATFORM_ARCH_UNKNOWN
#undef PLATFORM_ARCH_FAMILYNAME
#if defined(__x86_64__)
#define PLATFORM_ARCH_X86_64 1
#define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__i386__)
#define PLATFORM_ARCH_X86 1
#define PLATFORM_ARCH_FAMILYNAME X86
#elif defined(__aarch64__)
#define PLATFORM_ARCH_AARCH64 1
#define PLATFORM_ARCH_FAMILYNAME AARCH64
#elif defined(__arm__)
#define PLATFORM_ARCH_ARM 1
#define PLATFORM_ARCH_FAMILYNAME ARM
#elif defined(__powerpc__) || defined(__powerpc64__)
#define PLATFORM_ARCH_POWERPC 1
#define PLATFORM_ARCH_FAMILYNAME POWERPC
#elif defined(__riscv)
#define PLATFORM_ARCH_RISCV 1
#define PLATFORM_ARCH_FAMILYNAME RISCV
#elif defined(__s390__)
#define PLATFORM_ARCH_S390 1
#define PLATFORM_ARCH_FAMILYNAME S390
#elif defined(__mips__)
#define PLATFORM_ARCH_MIPS 1
#define PLATFORM_ARCH_FAMILYNAME MIPS
#elif defined(__loongarch__)
#define PLATFORM_ARCH_LOONGARCH 1
#define PLATFORM_ARCH_FAMILYNAME LOONGARCH
#else
#define PLATFORM_ARCH_UNKNOWN 1
#define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif

#undef PLATFORM_ARCH_32
#undef PLATFORM_ARCH_64
#if defined(__LP64__) || defined(_LP64) || (defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8)
#define PLATFORM_ARCH_64 1
#else
#define PLATFORM_ARCH_32 1
#endif

#undef PLATFORM_ARCH_LITTLE_ENDIAN
#undef PLATFORM_ARCH_BIG_ENDIAN
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PLATFORM_ARCH_BIG_ENDIAN 1
#else
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#endif
/**@}*/

#endif
