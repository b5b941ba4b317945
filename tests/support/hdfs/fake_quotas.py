"""Keep quotas of names in memory: what has no room for another name refuses it, as HDFS does to superusers too."""

from tests.support.worlds.fake_calls import InMemoryCalls
from twinhive.core.model.files import is_below


class InMemoryQuotas(InMemoryCalls):
    """Implement NameQuotas; `opened` are the files that somebody is writing."""

    def name_quota(self, path: str) -> int | None:
        with self._call("name_quota"):
            self._node(path)
            return self.name_quotas.get(path)

    def set_name_quota(self, path: str, names: int | None) -> None:
        with self._change("set_name_quota", path):
            self._node(path)
            if names is None:
                self.name_quotas.pop(path, None)
            else:
                self.name_quotas[path] = names

    def open_files(self, path: str, most: int) -> list[str]:
        with self._call("open_files"):
            return sorted(one for one in self.opened if one == path or is_below(one, path))[:most]
