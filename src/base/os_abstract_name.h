#pragma once
// Abstract names of Unix sockets, which stand in no file system: the kernel keeps a name while a
// socket is bound to it. Each function returns 0, or -1 with errno; ENAMETOOLONG: the name has more
// than 107 bytes.

#include <string_view>

namespace gex::os {

/// Binds the socket to the name; EADDRINUSE: another socket has it.
int bind_abstract(int socket, std::string_view name) noexcept;

/// Connects the socket to the one that is bound to the name; ECONNREFUSED: there is none.
int connect_abstract(int socket, std::string_view name) noexcept;

}  // namespace gex::os
