// Loaded before UCX, makes it claim to be one that is older than libgex works with.

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release);

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 12;
  *release = 1;
}
