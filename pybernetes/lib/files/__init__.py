"""Files below folders that others can change: by descriptors, without following what others put there.

``opening`` opens what is below a folder, ``regular`` reads and creates files, ``trees`` goes through folders and removes
them. A path that was checked is not opened a second time by its name: who checks it holds its descriptor.
"""
