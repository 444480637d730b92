"""Rules about shell lines: an allow lets nothing else through, a deny is not passed by another spelling."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.contract import Effect, Json
from runtime.policy.matchers import Commands, words_of
from runtime.policy.rules import Ask, Policy, Rule, Ruling
from runtime.policy.shell_line import LONGEST_LINE, read_line

LISTED = Commands((("git", "status"), ("ls",), ("cat",)))
PUSH = Commands((("git", "push"),))

ALLOWED = [
    "ls",
    "ls -la 'a b' \"c d\"",
    "ls x; git status",
    "ls && git  status\t--short || cat x",
    "ls | cat &",
    "ls\ncat x\n",
    "(ls; cat x)",
    "ls $(cat names) `cat more`",
    'ls "$(cat names)" $HOME ${HOME} $?',
    "ls 2>&1 >/dev/null",
    "ls &>/dev/null",
    "ls &>/dev/null; ls &>>/dev/null # x",
    "ls *.py a{b,c} [a-z]",
    "ls # rm x",
    "l\\s x",
    "'ls' x",
    "ls \\\n -l",
    "ls ';' '&&' \\; \"|\"",
]
KEPT_OUT = [
    "",
    " ",
    "# ls",
    "ls x; rm",
    "ls x;rm",
    "ls&rm",
    "ls&&rm",
    "ls||rm",
    "ls|rm",
    "ls|&rm",
    "ls\nrm",
    "ls $(rm)",
    'ls "$(rm)"',
    'ls "`rm`"',
    "ls `rm`",
    "ls `cat \\`rm\\``",
    "ls $(ls $(rm))",
    "ls <(rm)",
    "ls >(rm)",
    "(ls; rm)",
    "{ ls; }",
    "ls > x",
    "ls >> x",
    "ls 2> x",
    "ls &> x",
    "ls $[ # ] & rm",  # arithmetic to bash, so no comment
    'ls "$[1]"',
    'ls $(( ls "a" # )) & rm\n))',
    "(( ls # )) & rm\n))",
    "ls; ((ls # )) & rm\n))",
    "a[ # ]=1 & rm",
    "ls ${ rm; }",
    "ls &>/dev/null rm",  # two commands to dash
    "ls &>>/dev/null\t'rm'",
    "ls &>/dev/null \\\n rm",
    "ls < x",
    "ls <> x",
    "ls >| x",
    "cat <<E\nx\nE",
    "cat <<E\n$(rm)\nE",
    "cat <<< x",
    "PATH=. ls",
    "LD_PRELOAD=./x.so ls",
    "env ls",
    "command ls",
    "exec ls",
    "nohup ls",
    "sudo ls",
    "time ls",
    "eval ls",
    "sh -c ls",
    "./ls",
    "/tmp/ls",
    "lsx",
    "git",
    "git push",
    "git -c core.pager=./x status",
    "$x",
    "$x ls",
    "l$x",
    "l? x",
    "{ls,rm}",
    "${x:-ls} y",
    "ls ${x:-$(rm)}",
    "ls ${x@P}",
    "ls $((a[$(rm)]))",
    "ls $((1))",
    "ls $'\\x3b' ",
    "$'ls'",
    "ls() { rm; }; ls",
    "function ls { rm; }; ls",
    "alias ls=rm; ls",
    ". ls",
    "source ls",
    "if ls; then rm; fi",
    "! ls",
    "for x in a; do ls; done",
    "case x in x) ls;; esac",
    "ls '",
    'ls "',
    "ls `",
    "ls $(",
    "ls )",
    "ls (",
    "ls >",
    "ls \\",
    "ls;" * 20_000,
    "$(" * 500,
    "${x:-" * 5000,
]
STOPPED = [
    "git push",
    "git  push",
    "git\tpush origin",
    " git push",
    "git \\\n push",
    "cd x; git push",
    "cd x&&git push",
    "true || git push",
    "true | git push",
    "true & git push",
    "true\ngit push",
    "(git push)",
    "( ( git push ) )",
    "((git push))",
    "{ git push; }",
    "! git push",
    "if true; then git push; fi",
    "for x in 1; do git push; done",
    "for ((i=0; i<3; i++)); do git push; done",
    "while git push; do :; done",
    "until false; do git push; done",
    "case x in x) git push;; esac",
    "echo $(case x in x) git push;; esac)",
    "f() { git push; }; f",
    "function f { git push; }; f",
    "echo $(git push)",
    'echo "$(git push)"',
    'echo "a `git push` b"',
    "echo `git push`",
    "echo ${x:-$(git push)}",
    "echo $((x + $(git push)))",
    "cat <(git push)",
    "cat < <(git push)",
    "cat <<E\n$(git push)\nE",
    "cat <<E\nE\ngit push",
    "cat <<-E\n\tE\ngit push",
    "> x git push",
    "2>x git push",
    "git push > x 2>&1",
    "git >x push",
    "A=b git push",
    "A=b C=$(d) git push",
    "A[1]+=b git push",
    "env git push",
    "env -i A=b git push",
    "env -S 'git push'",
    "command git push",
    "command -p git push",
    "builtin command git push",
    "exec git push",
    "exec -a x git push",
    "nohup git push &",
    "sudo git push",
    "sudo -u ada -- git push",
    "doas git push",
    "nice -n 5 git push",
    "timeout -k 5 10 git push",
    "time git push",
    "time -p git push",
    "setsid git push",
    "stdbuf -o0 git push",
    "echo origin | xargs git push",
    "find . -exec git push ';'",
    "find . -execdir git push \\;",
    "sh -c 'git push'",
    'bash -lc "cd x && git push"',
    "/bin/sh -c 'git push'",
    "env sh -c 'sudo git push'",
    "busybox sh -c 'git push'",
    "eval git push",
    "eval 'git push'",
    "eval 'git' \"push\"",
    "echo git push | sh",
    "sh <<E\ngit push\nE",
    "bash <<< 'git push'",
    "ls &>/dev/null git push",
    'echo "${x:-\'}" & git push # \'}"',
    "ls $[ # ] & git push",
    'ls $(( ls "a" # )) & git push\n))',
    "(( x # )) & git push\n))",
    "a[ # ]=1 & git push",
    "a[b[0] # ]=1 & git push",
    "a[ <<E ]=1\ngit push\nE",
    "echo ${ git push; }",
    "echo ${| git push; }",
    "git &>/dev/null push",
    "trap 'git push' EXIT",
    "/usr/bin/git push",
    "./git push",
    "~/bin/git push",
    "'git' push",
    '"git" "push"',
    "g''it pu\"\"sh",
    "\\git push",
    "g\\it p\\ush",
    "$'git' push",
    "$'\\147it' push",
    "$x push",
    "git $x",
    'git "$x"',
    "${x} push",
    "$(echo git) push",
    "`echo git` push",
    "g?t push",
    "/usr/bin/g[i]t push",
    "{git,push}",
    "g{i,}t push",
    "git pus{h,}",
    "git -C there push",
    "git --no-pager -c a=b push",
    "git --git-dir=x push",
    "git " + "-c a=b " * 50 + "push",
    "a=(git push); ${a[@]}",
    "eval $x",
    'sh -c "$x"',
    "git push '",
    "echo $(git push",
    "coproc git push",
    "source <(echo git push)",
    ". <(echo git push)",
    'source "$script"',
    'alias g="git push"; g',
    "true |& git push",
    "true;;git push",
    "[ -f x ] && git push",
    "[[ -f x ]] && git push",
    "echo x # \ngit push",
    "echo x#y; git push",
    ": " + "x" * LONGEST_LINE,
    "$(" * 500 + "git push",
    "${x:-" * 5000,
]
LEFT_ALONE = [
    "",
    "ls",
    "git status",
    "git pushy",
    "git log push",
    "git commit -m 'git push'",
    "echo 'git push'",
    'echo "don\'t git push"',
    "echo git push",
    "grep -r 'git push' .",
    "# git push",
    "ls # git push",
    "[ -f x ] && ls",
    "[[ -f x ]] && ls",
    "cat <<'E'\ngit push\n$(git push)\nit's\nE",
    "cat > x <<E\ngit push\nE\nls",
    "for x in a b; do echo $x; done",
    "if ls; then cat x; fi > out",
    "x=$(ls) y=2",
    "echo $((1 + 2 * (3 + x)))",
    "python3 -c 'print(1)'",
    "find . -name '*.py' -exec wc -l {} +",
    "timeout 5 sudo ls",
    "bash build.sh push",
    "sh -c 'ls; cat x'",
    "digit push",
]


@pytest.mark.parametrize("line", ALLOWED)
def test_an_allow_matches_lines_of_nothing_else(line: str) -> None:
    assert LISTED.surely(line)


@pytest.mark.parametrize("line", KEPT_OUT, ids=lambda line: line[:30])
def test_an_allow_lets_nothing_else_through(line: str) -> None:
    assert not LISTED.surely(line)


@pytest.mark.parametrize("line", STOPPED, ids=lambda line: line[:30])
def test_a_deny_is_not_passed_by_another_spelling(line: str) -> None:
    assert PUSH.perhaps(line)


@pytest.mark.parametrize("line", LEFT_ALONE)
def test_a_deny_leaves_other_lines_alone(line: str) -> None:
    assert not PUSH.perhaps(line)


@pytest.mark.parametrize("value", [3, True, ["ls"], {"ls": 1}])
def test_what_is_no_text_is_never_allowed_and_always_stopped(value: Json) -> None:
    assert not LISTED.surely(value)
    assert PUSH.perhaps(value)


def test_an_argument_that_is_not_there_matches_nothing() -> None:
    assert not LISTED.surely(None)
    assert not PUSH.perhaps(None)


def test_rules_by_words_hold_where_globs_let_through() -> None:
    by_words = Policy([Rule(Ruling.DENY, where={"command": PUSH}), Rule(Ruling.ALLOW, where={"command": LISTED})])

    def ruling(command: str) -> Ruling:
        return by_words.ruling(Ask("shell", Effect.DANGER, {"command": command}, "main", "web:main/a", frozenset()))

    lines = ["ls x", "ls x; rm", "git  push", "env git push"]
    assert [ruling(line) for line in lines] == [Ruling.ALLOW, Ruling.ASK, Ruling.DENY, Ruling.DENY]


@pytest.mark.parametrize("command", ["", " ", "ls; rm", "ls | cat", "echo $x", "ls 'a b'", "ls *", "a\\ b", "a\nb"])
def test_a_rule_names_plain_words(command: str) -> None:
    with pytest.raises(ValueError, match="git status"):
        words_of(command)


# ------------------------------------------------------------------------------------------------------ properties

SIGNS = [
    *" \t\n;&|()<>$`\"'\\#{}*?[]!=~-",
    "$(",
    "${",
    "$((",
    "))",
    "<<E\n",
    "E\n",
    "ls",
    "rm",
    "git",
    "push",
    "env",
    "sh -c",
]
lines = st.lists(st.sampled_from(SIGNS), max_size=14).map("".join) | st.text(max_size=30)
joins = st.sampled_from([";", "&&", "||", "|", "&", "\n", " ; ", "\n\n", "|&"])
heads = st.sampled_from(["", "A=b ", "env ", "sudo -u x ", "nohup ", "! ", "2>/dev/null ", "command -p ", "\\\n"])


@given(lines)
def test_every_text_is_read(line: str) -> None:
    read = read_line(line)
    assert all(command.words for command in read.commands)


@given(lines)
def test_what_an_allow_matches_a_deny_of_the_same_words_matches_too(line: str) -> None:
    assert not LISTED.surely(line) or LISTED.perhaps(line)


@given(lines, joins)
def test_a_denied_command_is_found_behind_any_clear_line(line: str, join: str) -> None:
    assert PUSH.perhaps(f"{line}{join}git push") or _swallows(line)


def _swallows(line: str) -> bool:
    """Say if what stands behind `line` is no command: a comment, escaped, a here-document, or where a redirection leads.

    `<` and then `&git push` redirects from a descriptor "git", which is an error, and would run `push`.
    """
    return any(sign in line for sign in ("#", "\\", "<<")) or line.endswith(("<", ">"))


@given(heads, st.lists(st.tuples(joins, st.sampled_from(["ls", "cat x", "git status"])), max_size=4))
def test_a_denied_command_is_found_behind_any_prefix(head: str, others: list[tuple[str, str]]) -> None:
    behind = "".join(f"{join}{command}" for join, command in others)
    assert PUSH.perhaps(f"{head}git push{behind}")
    assert not LISTED.surely(f"{head}git push{behind}")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that only tell that they ran."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("ls", "cat", "git", "rm", "env", "E"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf \'%s %s\\\\0\' {name} "$1" >>"$RAN"\n')  # a word may hold any line end
        program.chmod(0o755)
    return folder


SHELLS_HERE = [shell for shell in ("bash", "dash") if shutil.which(shell)]


@given(line=st.lists(st.sampled_from(SIGNS), max_size=10).map("".join))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("shell", SHELLS_HERE)
def test_a_real_shell_runs_no_more_of_an_allowed_line(
    shell: str, line: str, box: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ran = box / "ran"
    ran.write_text("")
    if not LISTED.surely(f"ls {line}"):
        return
    place = tmp_path_factory.mktemp("place")
    subprocess.run(
        [shutil.which(shell) or shell, "-c", f"ls {line}"],
        env={"PATH": str(box), "RAN": str(ran)},
        cwd=place,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
    )
    names = {told.split(" ")[0] for told in ran.read_text().split("\0")[:-1]}
    assert names <= {"ls", "cat", "git"}
    assert "git push" not in ran.read_text()
    assert list(place.iterdir()) == []
