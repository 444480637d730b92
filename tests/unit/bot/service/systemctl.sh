#!/bin/sh
# A systemctl of a user whose systemd knows one unit, signalbox.service. It is strict: what nobody should ask is refused.
# $FAKE holds its state: `active` with the pid, `log` with all that was asked, `fails` if a start is to fail.
name=$(basename "$0")
echo "$name $*" >>"$FAKE/log"
unit=$UNITS/signalbox.service
case "$name $*" in
    "systemctl --user show --property=Version --value") [ -e "$FAKE/away" ] && exit 1; echo 252 ;;
    "systemctl --user daemon-reload") touch "$FAKE/loaded" ;;
    "systemctl --user enable signalbox.service") [ -e "$FAKE/loaded" ] && [ -e "$unit" ] || { echo "Unit signalbox.service does not exist" >&2; exit 1; } ;;
    "systemctl --user disable --now signalbox.service") rm -f "$FAKE/active" ;;
    "systemctl --user start signalbox.service")
        [ -e "$unit" ] || { echo "Unit signalbox.service not found." >&2; exit 5; }
        [ -e "$FAKE/hangs" ] && exec sleep 5
        [ -e "$FAKE/fails" ] && { echo "Job for signalbox.service failed." >&2; exit 1; }
        cat "$FAKE/pid" >"$FAKE/active" ;;
    "systemctl --user stop signalbox.service") [ -e "$FAKE/hangs" ] && exec sleep 5; rm -f "$FAKE/active" ;;
    "systemctl --user kill --signal=SIGKILL signalbox.service") rm -f "$FAKE/active" "$FAKE/hangs" ;;
    "systemctl --user show --property=TimeoutStopUSec --value signalbox.service") echo "14s 500ms" ;;
    "systemctl --user show --property=ActiveState,SubState,MainPID,Result signalbox.service")
        if [ -e "$FAKE/active" ]; then echo "ActiveState=active"; echo "SubState=running"; echo "MainPID=$(cat "$FAKE/active")"; echo "Result=success"
        elif [ -e "$FAKE/fails" ]; then echo "ActiveState=failed"; echo "SubState=failed"; echo "MainPID=0"; echo "Result=exit-code"
        else echo "ActiveState=inactive"; echo "SubState=dead"; echo "MainPID=0"; echo "Result=success"; fi ;;
    "journalctl --user --unit=signalbox.service --lines=15 --no-pager --output=cat") echo "signalbox: model.name: is wrong." ;;
    "loginctl show-user --property=Linger --value") echo no ;;
    *) echo "nobody should ask: $name $*" >&2; exit 64 ;;
esac
