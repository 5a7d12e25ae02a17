import { errorText } from '../errors.ts'

/** What is in the way, by the code of the system's error. */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'it is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  ENOENT: 'no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EPERM: 'permission denied',
  EROFS: 'its file system is read-only',
}

/** Why a file or folder could not be read, made or written, in words for people, with its path; what is rare as the system tells it. */
export function fileProblem(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error)
  const { code = '', path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string }
  const words = WORDS[code]
  const place = dest ?? path
  return words === undefined || place === undefined ? errorText(error) : `${place}: ${words}`
}
