from nova.virt import fake


class HostDriver(fake.FakeDriver):
    def init_host(self, host):
        super().init_host(host)
        self._set_nodes([host])
