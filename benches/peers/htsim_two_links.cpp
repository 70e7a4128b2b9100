// W2 on csg-htsim: ten MPTCP connections with LIA over two links of 10 Mb/s, and ten TCP over the
// second one. A program of ours against its classes; it holds nothing of theirs. Build as htsim.cpp.
//
// htsim-two-links SECONDS [random]
#include "config.h"

#include "eventlist.h"
#include "mtcp.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "randomqueue.h"
#include "tcp.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr int USERS = 10;  // of each class

struct AccessPoint {
    Queue *queue;
    Pipe line;
    AccessPoint(bool random, EventList &events) : line(timeFromMs(40.0), events) {
        const linkspeed_bps rate = speedFromMbps(10.0);
        const mem_b room = memFromPkt(66);
        queue = random ? new RandomQueue(rate, room, events, nullptr, memFromPkt(33))
                       : new Queue(rate, room, events, nullptr);
    }
};

// What all flows share.
struct Network {
    EventList &events;
    AccessPoint first, second;
    Pipe back;
    TcpRtxTimerScanner timers;
    std::vector<TcpSink *> sinks;

    Network(bool random, EventList &list)
        : events(list), first(random, list), second(random, list), back(timeFromMs(40.0), list),
          timers(timeFromMs(10.0), list) {}

    // A flow over one access point; of a connection, if there is one.
    void add_flow(AccessPoint &at, MultipathTcpSrc *connection, MultipathTcpSink *receiver) {
        auto *source = new TcpSrc(nullptr, nullptr, events);
        auto *sink = new TcpSink();
        auto *there = new Route(), *home = new Route();
        there->push_back(at.queue);
        there->push_back(&at.line);
        there->push_back(sink);
        home->push_back(&back);
        home->push_back(source);
        if (connection) {
            connection->addSubflow(source);
            receiver->addSubflow(sink);
        }
        timers.registerTcp(*source);
        // Not within 5 s, as ours do: it divides by zero then, some hundred seconds later.
        const auto start = static_cast<simtime_picosec>(drand() * timeFromMs(100.0));
        source->connect(*there, *home, *sink, start);
        sinks.push_back(sink);
    }
};

}  // namespace

int main(int argc, char **argv) {
    const bool random = argc == 3 && std::string(argv[2]) == "random";
    if (argc < 2 || argc > 3 || (argc == 3 && !random)) {
        std::fprintf(stderr, "usage: %s SECONDS [random]\n", argv[0]);
        return 2;
    }
    std::cout.setstate(std::ios_base::badbit);  // it reports every timeout
    EventList &events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(std::atof(argv[1])));
    Packet::set_packet_size(1500);
    Network network(random, events);
    for (int user = 0; user < USERS; user++) {
        auto *connection = new MultipathTcpSrc(COUPLED_INC, events, nullptr);
        auto *receiver = new MultipathTcpSink(events);
        connection->connect(receiver);
        network.add_flow(network.first, connection, receiver);
        network.add_flow(network.second, connection, receiver);
        network.add_flow(network.second, nullptr, nullptr);
    }
    while (events.doNextEvent()) {
    }
    unsigned long long bytes = 0;
    for (const TcpSink *sink : network.sinks) bytes += sink->_packets;  // it counts bytes
    // Each segment that arrived and its ACK crossed one link each.
    std::printf("hops %llu\n", 2 * (bytes / 1500));
}
