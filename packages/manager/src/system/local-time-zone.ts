import { readlinkSync } from 'node:fs'

const UTC_FILE = /\/zoneinfo\/(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/

/**
 * The IANA name of the machine's zone. Most control planes run on UTC, and say so in one place: to hear it of Intl as well
 * costs 8 MiB of memory and the reading of the zones of the world. `link` is that of the machine's zone.
 */
export function localTimeZone(
  variable: string | undefined = process.env['TZ'],
  link: () => string = () => readlinkSync('/etc/localtime'),
): string {
  if (variable === 'UTC' || (variable === undefined && isUtc(link))) return 'UTC'
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

function isUtc(link: () => string): boolean {
  try {
    return UTC_FILE.test(link())
  } catch {
    // No link, but a file or nothing: whoever knows the world's zones has to look.
    return false
  }
}
