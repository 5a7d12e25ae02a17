/** What a command says of a file, in the words of its system. */
export class FileError extends Error {}
