/* The version of these headers, for C and C++; what a new one may change is in docs/versions.md. */
#ifndef NODEWISE_VERSION_H
#define NODEWISE_VERSION_H

#define NODEWISE_VERSION_MAJOR 0
#define NODEWISE_VERSION_MINOR 1
#define NODEWISE_VERSION_PATCH 0

/* Versions as numbers that can be compared; minor and patch are below 1000. */
#define NODEWISE_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define NODEWISE_VERSION \
  NODEWISE_VERSION_NUMBER(NODEWISE_VERSION_MAJOR, NODEWISE_VERSION_MINOR, NODEWISE_VERSION_PATCH)

#endif
