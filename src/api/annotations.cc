// Entry points: annotations.

#include <gex/annotations.h>

#include "core/annotated_wait.h"
#include "core/observed.h"
#include "observe/trace.h"

extern "C" {

int gex_Annotation_QueryReaders(void) {
  return (gex::traced() ? GEX_ANNOTATION_TRACE : 0) |
         (gex::progress_watched() ? GEX_ANNOTATION_HANG_REPORT : 0);
}

void gex_Annotation_Wait(const char* text, gex_Rank_t jobrank, gex_Event_t event) {
  if (gex_proc_.jobsize != 0) gex::show_annotated_wait(text, jobrank, event);
}
void gex_Annotation_EndWait(void) {
  if (gex_proc_.jobsize != 0) gex::end_annotated_wait();
}

void gex_Annotation_Begin(const char* name) {
  gex::trace::annotation_begin(name);
}
void gex_Annotation_End(const char* name) {
  gex::trace::annotation_end(name);
}
}
