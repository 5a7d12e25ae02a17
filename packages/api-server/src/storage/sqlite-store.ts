/** A store in a data directory. Contract: docs/behaviour/api-server/storage-and-watch.md, "Durability". */
import { closeSync, chmodSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { makeDirectory } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { RevisionLog, type InitialState, type Journal } from './revision-log.ts'
import type { Store } from './store.ts'
import { parseExact, stringifyExact } from '@gyropilot/foundation/exact-json'

export interface SqliteStoreOptions {
  readonly clock: Clock
  /** Made when it is absent. */
  readonly directory: string
  /**
   * `full` (default): a write that was answered survives a power failure. `process`: it survives the end of the process,
   * however sudden, but the last writes may be lost with the machine.
   */
  readonly durability?: 'full' | 'process'
  /** Shown to whoever finds the directory in use. */
  readonly processId?: number
}

/** Grows when older versions of this software could not read the file any more. */
const FORMAT_VERSION = 1
const DATABASE = 'state.db'
const LOCK_OWNER = 'state.lock'
const OWNER_ONLY = 0o600

/** The data directory cannot be used; the message says why and is for the user. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

/** Throws DataDirectoryError when the directory is in use or was written by a newer version. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { clock, directory } = options
  makeDirectory(directory)
  const journal = new SqliteJournal(options)
  return new RevisionLog(clock, journal, journal.load())
}

/**
 * Secrets stand in the file as they are, and the directory may be one that others read. SQLite's journal takes over the file's mode.
 * A file that is there is not opened for it: with any descriptor of it that is closed the system takes all locks that the process has on
 * it, and so those of a server that has the directory.
 */
function ownersAlone(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    chmodSync(file, OWNER_ONLY)
  }
}

class SqliteJournal implements Journal {
  readonly #directory: string
  readonly #database: DatabaseSync
  readonly #put: StatementSync
  readonly #remove: StatementSync
  readonly #setRevision: StatementSync

  constructor({ directory, durability = 'full', processId }: SqliteStoreOptions) {
    this.#directory = directory
    const file = join(directory, DATABASE)
    ownersAlone(file)
    this.#database = new DatabaseSync(file)
    try {
      this.#lock(directory, processId)
      this.#checkVersion(directory)
      this.#database.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
    } catch (error) {
      this.#database.close()
      throw error
    }
    this.#put = this.#database.prepare(
      'INSERT INTO objects (collection, key, revision, written_ms, value) VALUES (?, ?, ?, ?, ?) ' +
        'ON CONFLICT (collection, key) DO UPDATE SET revision = excluded.revision, written_ms = excluded.written_ms, value = excluded.value',
    )
    this.#remove = this.#database.prepare('DELETE FROM objects WHERE collection = ? AND key = ?')
    this.#setRevision = this.#database.prepare('UPDATE counter SET revision = ?')
  }

  /** SQLite's own exclusive lock: the system takes it back however the process ends. */
  #lock(directory: string, processId: number | undefined): void {
    try {
      this.#database.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; BEGIN EXCLUSIVE; COMMIT',
      )
    } catch (error) {
      if (!isBusy(error))
        throw new DataDirectoryError(
          `cannot open data directory ${directory}: ${(error as Error).message}`,
          { cause: error },
        )
      throw new DataDirectoryError(
        `data directory ${directory} is in use by another server${ownerOf(directory)}: stop it or choose another directory`,
        { cause: error },
      )
    }
    writeFileSync(join(directory, LOCK_OWNER), `${processId ?? process.pid}\n`)
  }

  #checkVersion(directory: string): void {
    const { user_version: version } = this.#database.prepare('PRAGMA user_version').get() as {
      user_version: number
    }
    if (version > FORMAT_VERSION) {
      throw new DataDirectoryError(
        `data directory ${directory} was written by a newer version (format ${version}, this one reads up to ${FORMAT_VERSION}); start that version or use another directory`,
      )
    }
    if (version === FORMAT_VERSION) return
    this.#database.exec(`
      BEGIN;
      CREATE TABLE objects (
        collection TEXT NOT NULL,
        key TEXT NOT NULL,
        revision INTEGER NOT NULL,
        written_ms INTEGER NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (collection, key)
      ) WITHOUT ROWID;
      CREATE TABLE counter (revision INTEGER NOT NULL);
      INSERT INTO counter VALUES (0);
      PRAGMA user_version = ${FORMAT_VERSION};
      COMMIT;
    `)
  }

  load(): InitialState {
    const { revision } = this.#database.prepare('SELECT revision FROM counter').get() as {
      revision: number
    }
    const rows = this.#database
      .prepare('SELECT collection, key, revision, written_ms, value FROM objects')
      .all()
    return {
      revision,
      entries: rows.map((row) => {
        const {
          collection,
          key,
          revision: written,
          written_ms: writtenAtMs,
          value,
        } = row as Record<string, string & number>
        return {
          collection: collection!,
          key: key!,
          revision: written!,
          writtenAtMs: writtenAtMs!,
          object: parseExact(value!) as Stored,
        }
      }),
    }
  }

  write(
    collection: string,
    key: string,
    revision: number,
    object: Stored | undefined,
    writtenAtMs: number,
  ): void {
    this.#database.exec('BEGIN')
    try {
      if (object === undefined) this.#remove.run(collection, key)
      else this.#put.run(collection, key, revision, Math.trunc(writtenAtMs), stringifyExact(object))
      this.#setRevision.run(revision)
      this.#database.exec('COMMIT')
    } catch (error) {
      // A full or failing disk has ended the transaction already, and what it said is the error.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw new DataDirectoryError(
        `cannot write to data directory ${this.#directory}: ${(error as Error).message}`,
        { cause: error },
      )
    }
  }

  close(): void {
    this.#database.close()
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked/.test(error.message)
}

function ownerOf(directory: string): string {
  try {
    return ` (process ${readFileSync(join(directory, LOCK_OWNER), 'utf8').trim()})`
  } catch {
    return ''
  }
}
