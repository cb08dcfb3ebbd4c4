// The texts of the storages of a collection.

export const t = {
  title: "Storages",
  shown: (storage, mirror) =>
    `Versions are stored in ${storage ?? "the first storage"}; second copies: ${
      mirror === "none" ? "none" : (mirror ?? "as the service says")
    }.`,
  storage: "Versions are stored in",
  storageHint: "For versions that arrive from now on",
  first: (name) => `The first storage (${name})`,
  mirror: "Second copies are in",
  mirrorHint: "For all versions: a change copies them all, and deletes copies elsewhere days later",
  ofService: "As the service says",
  noMirror: "Nowhere",
  save: "Change storages",
  elsewhere: (number, shown, bytes, storage) =>
    `${shown} ${number === 1 ? "content is" : "contents are"} in another storage than ${storage}: ${bytes}.`,
  moving: (left, bytes, storage) => `Being moved into ${storage}: ${left} contents left, ${bytes}.`,
  move: (storage) => `Move all into ${storage}`,
};
