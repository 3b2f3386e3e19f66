/* What collective functions are made of: messages, copies and sums as SMPI's own ones use them.
 *
 * SimGrid exports these functions, but installs no header for them. They take other tags than a
 * program can, so that no receive of any tag meets them. */
#ifndef BL_SIMULATOR_MESSAGES_HPP
#define BL_SIMULATOR_MESSAGES_HPP

#include <smpi/smpi.h>

#include <vector>

namespace simgrid::smpi
{

class Request
{
  public:
    static void send(const void *, int, MPI_Datatype, int to, int tag, MPI_Comm);
    static int recv(void *, int, MPI_Datatype, int from, int tag, MPI_Comm, MPI_Status *);
    static MPI_Request isend(const void *, int, MPI_Datatype, int to, int tag, MPI_Comm);
    static MPI_Request irecv(void *, int, MPI_Datatype, int from, int tag, MPI_Comm);
    static int wait(MPI_Request *, MPI_Status *);
    static int waitall(int, MPI_Request[], MPI_Status[]);
    static void sendrecv(const void *, int, MPI_Datatype, int to, int send_tag, void *, int,
                         MPI_Datatype, int from, int receive_tag, MPI_Comm, MPI_Status *);
};

class Datatype
{
  public:
    static int copy(const void *, int, MPI_Datatype, void *, int, MPI_Datatype);
};

} /* namespace simgrid::smpi */

namespace bareline
{

/* A communicator as a collective function sees it. */
struct Team {
    explicit Team(MPI_Comm which) : comm(which)
    {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
    }
    /* The rank at so many places after this one, around the ring. */
    int after(int places) const
    {
        return (rank + places + ranks) % ranks;
    }

    MPI_Comm comm;
    int rank = 0, ranks = 1;
};

/* Elements of one type: where the i-th lies, and how many bytes some take in memory. */
class Elements
{
  public:
    explicit Elements(MPI_Datatype which) : type(which)
    {
        MPI_Aint least;
        MPI_Type_get_extent(type, &least, &extent_);
        MPI_Type_size(type, &size_);
    }
    long bytes(long count) const
    {
        return count * size_;
    }
    char *at(void *buffer, long i) const
    {
        return static_cast<char *>(buffer) + i * extent_;
    }
    const char *at(const void *buffer, long i) const
    {
        return static_cast<const char *>(buffer) + i * extent_;
    }
    std::vector<char> room(long count) const
    {
        return std::vector<char>(static_cast<size_t>(count * extent_) + 1);
    }
    void copy(const void *from, void *to, int count) const
    {
        simgrid::smpi::Datatype::copy(from, count, type, to, count, type);
    }
    /* Adds terms to a sum; a replay of a trace has no operation. */
    void add(const void *terms, void *sum, int count, MPI_Op op) const
    {
        if (op != MPI_OP_NULL && count > 0)
            MPI_Reduce_local(terms, sum, count, type, op);
    }

    MPI_Datatype type;

  private:
    MPI_Aint extent_ = 1;
    int size_ = 1;
};

/* The tag of all messages here: a communicator has one collective function at a time. */
constexpr int tag = -7001;

} /* namespace bareline */

#endif
