class Excitation:
    pass


def excite():
    pass
