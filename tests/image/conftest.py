from tests.image.fixtures import installed_plimsoll

__all__ = ["installed_plimsoll"]
