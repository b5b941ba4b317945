"""Keep the trash of a file system in memory where HDFS has that of its user."""

from tests.support.worlds.fake_calls import InMemoryCalls
from twinhive.core.model.errors import Refused
from twinhive.core.model.files import is_below, parent

TRASH = "/user/hive/.Trash"


class InMemoryTrash(InMemoryCalls):
    """Implement the trash of FileWriter."""

    def to_trash(self, path: str) -> bool:
        with self._change("to_trash", path):
            if not self.keeps_trash or path not in self._nodes:
                return False
            trash = f"{self.root}{TRASH}"
            target = f"{trash}/Current{path.removeprefix(self.root)}"
            self._check_writable(target)
            if is_below(path, trash) or is_below(trash, path):
                raise Refused(f"{path}: {self.root} did not move it to the trash")
            if target in self._nodes:
                target += str(self._tree.new_time())
            self._tree.make_directories(parent(target))
            self._tree.move(path, target)
            return True
