/** What a command says of a file, in the words of its system. */
export class FileError extends Error {}

export const READ_ONLY = 'Read-only file system'
