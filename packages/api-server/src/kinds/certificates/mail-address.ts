import { parseIp } from '@gyropilot/api'

const ATOM = "[\\w!#$%&'*+/=?^`{|}~-]"
const DOTTED = `${ATOM}+(?:\\.${ATOM}+)*`
const QUOTED = '[\\t !#-\\[\\]-~]|\\\\[\\t -~]'
const COMMENT = '\\((?:[^()\\\\]|\\\\.|\\((?:[^()\\\\]|\\\\.)*\\))*\\)'
const BLANKS = '[ \\t]*'
const BETWEEN = `(?:[ \\t]|${COMMENT})*`
const PHRASE = `(?:[ \\t.]|${ATOM}|"(?:${QUOTED})*"|${COMMENT})`
const PLAIN = `(?:${DOTTED}|"(?:${QUOTED})+")@${BLANKS}(?:${DOTTED}|\\[([\\dA-Fa-f:.]+)\\])`
const mailbox = `(?:${PLAIN}|(?:(?!\\()${PHRASE}+)?<${BLANKS}${PLAIN}>)`
const ADDRESS = new RegExp(
  `^${BLANKS}(?:${mailbox}|(?!\\()${PHRASE}+:${BLANKS}${mailbox}${BETWEEN};)${BETWEEN}$`,
)

/**
 * Whether Go's mail.ParseAddress reads it, a name in front, comments and a group of one included. ASCII only. Limits: comments stand in
 * comments but not in those; how a name is encoded is not looked at.
 */
export function isMailAddress(text: string): boolean {
  const found = ADDRESS.exec(text)
  return (
    found !== null && found.slice(1).every((ip) => ip === undefined || parseIp(ip) !== undefined)
  )
}
